import type { RequestPart } from './request.ts';

/** `tool_choice`: for the first reply only, since a choice that holds on every turn never lets a run end. */
export const choicePart: RequestPart = ({ config, turns, tools }, body) =>
  config.toolChoice === undefined || turns > 0 || tools.length === 0
    ? body
    : { ...body, tool_choice: config.toolChoice };
