import type { Json, JsonObject } from '../contracts/index.ts';

/**
 * What goes wrong with one request. The first group comes instead of a reply, the second happens to its delivery, the
 * third changes what the reply says.
 */
export type Fault =
  /** HTTP 429; `retryAfter` in seconds, sent as `retry-after`. */
  | { readonly kind: 'rate_limit'; readonly retryAfter?: number }
  /** HTTP 529. */
  | { readonly kind: 'overloaded' }
  /** HTTP 500. */
  | { readonly kind: 'server_error' }
  /** The connection closes before anything was answered. */
  | { readonly kind: 'drop' }
  /** The connection closes in the middle of the reply. */
  | { readonly kind: 'drop_during' }
  /** The stream ends in an `error` event with HTTP 200; unstreamed: HTTP 529. */
  | { readonly kind: 'error_during' }
  /** `ms` pass before each event; unstreamed: once. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** `max_tokens`: the last text is cut in half. */
  | { readonly kind: 'truncate' }
  /** `max_tokens` inside the input of the last call. */
  | { readonly kind: 'truncate_call' }
  /** A `refusal` with nothing in it. */
  | { readonly kind: 'refusal' }
  /** `pause_turn` after a call of the provider's that has not run. */
  | { readonly kind: 'pause' }
  /** `tool_use` as stop reason, and no call. */
  | { readonly kind: 'no_call' }
  /** Calls beside `end_turn`. */
  | { readonly kind: 'stray_call' }
  /** A block of a type that nobody knows. */
  | { readonly kind: 'unknown_block' }
  /** A stop reason that nobody knows. */
  | { readonly kind: 'unknown_stop' };

export type FaultKind = Fault['kind'];

/** In the order of the help, each with what it does. */
export const FAULT_KINDS: ReadonlyMap<FaultKind, string> = new Map<FaultKind, string>([
  ['rate_limit', 'HTTP 429 with retry-after (:SECONDS, default 1)'],
  ['overloaded', 'HTTP 529'],
  ['server_error', 'HTTP 500'],
  ['drop', 'the connection closes before an answer'],
  ['drop_during', 'the connection closes in the middle of the reply'],
  ['error_during', 'an error event in the middle of the stream'],
  ['slow', 'time passes before each event (:MS, default 200)'],
  ['truncate', 'max_tokens in the middle of the text'],
  ['truncate_call', 'max_tokens inside the input of a call'],
  ['refusal', 'stop_reason refusal'],
  ['pause', 'pause_turn with a call of the provider that has not run'],
  ['no_call', 'stop_reason tool_use without a call'],
  ['stray_call', 'a call beside end_turn'],
  ['unknown_block', 'a block of an unknown type'],
  ['unknown_stop', 'an unknown stop reason'],
]);

/** Faults that come instead of a reply, so that the turn is still to be played. */
export function comesInstead(fault: Fault): boolean {
  return ['rate_limit', 'overloaded', 'server_error', 'drop'].includes(fault.kind);
}

/** The reply as the fault leaves it. */
export function alteredBy(fault: Fault | undefined, message: JsonObject): JsonObject {
  const content = Array.isArray(message.content) ? message.content : [];
  switch (fault?.kind) {
    case 'truncate':
      return { ...message, stop_reason: 'max_tokens', content: cutText(content) };
    case 'truncate_call':
      return { ...message, stop_reason: 'max_tokens', content: withCall(content) };
    case 'refusal':
      return {
        ...message,
        content: [],
        stop_reason: 'refusal',
        stop_details: { type: 'refusal', category: 'general_harms', explanation: null },
      };
    case 'pause':
      return {
        ...message,
        stop_reason: 'pause_turn',
        content: [
          ...content.filter((block) => !isCall(block)),
          {
            type: 'server_tool_use',
            id: `srvtoolu_paused_${String(message.id)}`.replace(/[^a-zA-Z0-9_]/g, '_'),
            name: 'web_search',
            input: { query: 'more' },
          },
        ],
      };
    case 'no_call':
      return { ...message, stop_reason: 'tool_use', content: content.filter((block) => !isCall(block)) };
    case 'stray_call':
      return { ...message, stop_reason: 'end_turn', content: withCall(content) };
    case 'unknown_block':
      return { ...message, content: [{ type: 'hologram', data: { depth: 3 } }, ...content] };
    case 'unknown_stop':
      return { ...message, stop_reason: 'solar_flare' };
    default:
      return message;
  }
}

function isCall(block: Json): block is JsonObject {
  return typeof block === 'object' && block !== null && !Array.isArray(block) && block.type === 'tool_use';
}

function withCall(content: readonly Json[]): Json[] {
  if (content.some(isCall)) return [...content];
  return [...content, { type: 'tool_use', id: 'toolu_stray', name: 'stray', input: { why: 'nobody asked' } }];
}

function cutText(content: readonly Json[]): Json[] {
  const kept = content.filter((block) => !isCall(block));
  const last = kept.at(-1);
  if (typeof last !== 'object' || last === null || Array.isArray(last) || typeof last.text !== 'string') return kept;
  const characters = [...last.text];
  const half = characters.slice(0, Math.max(1, Math.floor(characters.length / 2))).join('');
  return [...kept.slice(0, -1), { ...last, text: half }];
}
