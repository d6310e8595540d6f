import type { Json, JsonObject } from '../../contracts/index.ts';
import { sha256 } from '../../tools/index.ts';
import { arrayOf, isObject, isString } from '../rules/shape.ts';
import { estimateTokens, weightOf } from './estimate-tokens.ts';

/**
 * A whole response from what a turn gave: whatever the API always sends is there, and usage is estimated where the turn
 * says nothing of it.
 */
export function wholeReply(message: JsonObject, request: JsonObject, number: number): JsonObject {
  const given = isObject(message.usage) ? message.usage : {};
  const content = arrayOf(message.content);
  const { usage: _usage, ...rest } = message;
  return {
    ...rest,
    id: isString(message.id) && message.id !== '' ? message.id : `msg_double_${String(number).padStart(6, '0')}`,
    type: 'message',
    role: 'assistant',
    model: request.model ?? message.model ?? 'double',
    content: content.map(withCitations),
    container: message.container ?? null,
    stop_reason: message.stop_reason ?? 'end_turn',
    stop_sequence: message.stop_sequence ?? null,
    stop_details: message.stop_details ?? null,
    usage: {
      input_tokens: estimateTokens(request),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: Math.max(1, weightOf([...content])),
      service_tier: 'standard',
      ...given,
    },
  };
}

/** The API always gives texts their `citations`. */
function withCitations(block: Json): Json {
  return isObject(block) && block.type === 'text' && block.citations === undefined
    ? { ...block, citations: null }
    : block;
}

/** Stable ids, so that two runs of one script can be compared. */
export function requestIdOf(number: number): string {
  return `req_double_${sha256(`request ${number}`).slice(0, 8)}${String(number).padStart(6, '0')}`;
}
