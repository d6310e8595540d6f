import type { RequestPart } from './request.ts';
import { entriesOf } from './toolsets.ts';

/** `tools`: in the order in which they came, so that what the model has cached of them stays cached. */
export const toolsPart: RequestPart = ({ tools }, body) =>
  tools.length === 0 ? body : { ...body, tools: entriesOf(tools) };
