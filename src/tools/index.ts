/**
 * Rule of this folder: one definition makes both sides. What the model reads of a tool and what the harness checks and
 * runs come from the same object, and nothing here knows where a tool comes from or who may call it.
 */
export { BridleError, isBridleError } from './bridle-error.ts';
export { canonicalJson, sha256 } from './canonical.ts';
export { failureToWire, ToolFailure, type ToolFailureOptions } from './failure.ts';
export { rawFrom, rawJson } from './raw-json.ts';
export { WIRE_NAME_LIMIT, wireName, wireServerPart } from './wire-name.ts';
