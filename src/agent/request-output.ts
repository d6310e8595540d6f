import { isObject } from './blocks.ts';
import type { RequestPart } from './request.ts';

/** `output_config.format`: in every request of the run, so that what the model has cached stays cached. */
export const outputPart: RequestPart = ({ config }, body) =>
  config.output === undefined
    ? body
    : {
        ...body,
        output_config: { ...(isObject(body.output_config) && body.output_config), format: config.output.format },
      };
