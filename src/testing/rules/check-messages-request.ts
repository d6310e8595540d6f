import type { Json } from '../../contracts/index.ts';
import { ANSWER_RULES } from './answer-rules.ts';
import { MESSAGE_RULES } from './message-rules.ts';
import { REQUEST_RULES } from './request-rules.ts';
import type { Rule } from './rule.ts';
import { isObject } from './shape.ts';
import { TOOL_RULES } from './tool-rules.ts';

/** Every rule that `checkMessagesRequest` knows, in the order in which it reports. */
export const MESSAGES_REQUEST_RULES: readonly Rule[] = [
  ...REQUEST_RULES,
  ...TOOL_RULES,
  ...MESSAGE_RULES,
  ...ANSWER_RULES,
];

/**
 * Checks a request body by the structural rules of the Messages API: those that can be decided from the body alone.
 * What depends on the server (signatures of thinking blocks, token counts, files) can't be.
 *
 * @param body with or without `model`, `stream` and `max_tokens`, which are checked where they stand
 * @returns what the API would refuse, in words close to its own, each with the path it stands at; empty when valid
 */
export function checkMessagesRequest(body: Json): string[] {
  if (!isObject(body)) return ['Input should be an object'];
  return MESSAGES_REQUEST_RULES.flatMap((rule) => rule.check(body));
}
