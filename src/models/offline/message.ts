import type { Json, JsonObject } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import type { Plan } from './plan.ts';

/**
 * A plan as a Messages API response. Its ids come from a hash of the request, so that the same request gets the same
 * reply, and another request other ids. No tokens are spent, so usage says none.
 */
export function messageFor(plan: Plan, request: Json, model: string): JsonObject {
  const digest = sha256(canonicalJson(request));
  const content: Json[] =
    plan.kind === 'call'
      ? plan.calls.map(({ name, input }, at) => ({
          type: 'tool_use',
          id: `toolu_${sha256(`${digest}:${at}`).slice(0, 24)}`,
          name,
          input,
        }))
      : [{ type: 'text', text: plan.text }];
  return {
    id: `msg_${digest.slice(0, 24)}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: plan.kind === 'call' ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    // A question ends a turn as an answer does. This field, which the API doesn't have, tells them apart without a
    // look at the text.
    ...(plan.kind === 'ask' && { bridle: { asked: true } }),
    usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  };
}

/** The stream events that make up a message, in the order in which the Messages API sends them. */
export function* streamEvents(message: JsonObject): Generator<JsonObject> {
  const { content, stop_reason, stop_sequence, usage } = message;
  yield { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } };
  const blocks = Array.isArray(content) ? content : [];
  for (const [index, block] of blocks.entries()) {
    if (typeof block !== 'object' || block === null || Array.isArray(block)) continue;
    const isCall = block.type === 'tool_use';
    yield {
      type: 'content_block_start',
      index,
      content_block: isCall ? { ...block, input: {} } : { type: 'text', text: '' },
    };
    if (isCall) {
      const delta = { type: 'input_json_delta', partial_json: JSON.stringify(block.input ?? {}) };
      yield { type: 'content_block_delta', index, delta };
    } else {
      for (const text of String(block.text).match(/[^\n]*\n|[^\n]+$/g) ?? []) {
        yield { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
      }
    }
    yield { type: 'content_block_stop', index };
  }
  yield {
    type: 'message_delta',
    delta: { stop_reason: stop_reason ?? null, stop_sequence: stop_sequence ?? null },
    usage: usage ?? {},
  };
  yield { type: 'message_stop' };
}
