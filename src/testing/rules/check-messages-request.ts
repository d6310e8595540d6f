import type { Json, JsonObject } from '../../contracts/index.ts';
import { ANSWER_RULES } from './answer-rules.ts';
import { CACHE_RULES } from './cache-rules.ts';
import { CHOICE_RULES } from './choice-rules.ts';
import { COMPACTION_RULES } from './compaction-rules.ts';
import { MESSAGE_RULES } from './message-rules.ts';
import { PROVIDER_RULES } from './provider-rules.ts';
import { REQUEST_RULES } from './request-rules.ts';
import type { Rule } from './rule.ts';
import { SEARCH_RULES } from './search-rules.ts';
import { inOnePass, isObject } from './shape.ts';
import { STRICT_RULES } from './strict-rules.ts';
import { SYSTEM_MESSAGE_RULES } from './system-message-rules.ts';
import { THINKING_RULES } from './thinking-rules.ts';
import { TOOL_RULES } from './tool-rules.ts';

/** Every rule that `checkMessagesRequest` knows, in the order in which it reports. */
export const MESSAGES_REQUEST_RULES: readonly Rule[] = [
  ...REQUEST_RULES,
  ...THINKING_RULES,
  ...CHOICE_RULES,
  ...TOOL_RULES,
  ...PROVIDER_RULES,
  ...STRICT_RULES,
  ...SEARCH_RULES,
  ...CACHE_RULES,
  ...MESSAGE_RULES,
  ...SYSTEM_MESSAGE_RULES,
  ...COMPACTION_RULES,
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
  return breachesIn(body).map(({ message }) => message);
}

/** Every breach in a body with the rule that it breaks, in the order of the rules. */
export function breachesIn(body: JsonObject): readonly { readonly rule: Rule; readonly message: string }[] {
  return inOnePass(body, () =>
    MESSAGES_REQUEST_RULES.flatMap((rule) => rule.check(body).map((message) => ({ rule, message }))),
  );
}
