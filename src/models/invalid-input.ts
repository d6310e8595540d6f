import type { Json, JsonObject } from '../contracts/index.ts';
import { isObject, parseJson } from './json-shape.ts';

const MARK = 'INVALID_JSON';

/**
 * The `input` of a call from the text that the model wrote. Text that isn't one JSON object is kept under the key
 * `INVALID_JSON`, so that the transcript stays valid (an input is always an object) and the loop can answer the call
 * with what was wrong instead of running it. No text at all is a call without arguments.
 */
export function inputFromText(text: string): JsonObject {
  if (text.trim() === '') return {};
  const parsed = parseJson(text);
  return isObject(parsed) ? parsed : { [MARK]: text };
}

/**
 * The text that a model wrote where a JSON object was due, or `undefined` for an ordinary input.
 *
 * @param input the `input` of a `tool_use` block
 */
export function invalidInputText(input: Json): string | undefined {
  if (!isObject(input) || Object.keys(input).length !== 1) return undefined;
  const text = input[MARK];
  return typeof text === 'string' && !isObject(parseJson(text)) ? text : undefined;
}
