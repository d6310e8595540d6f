import type { Json, JsonObject } from '../../contracts/index.ts';
import { arrayOf, isObject, isString } from '../rules/shape.ts';
import { inputText, piecesOf, type Split } from './split.ts';

/** Blocks whose `input` comes in pieces of JSON. */
const CALLS: ReadonlySet<Json> = new Set<Json>(['tool_use', 'server_tool_use', 'mcp_tool_use']);

export interface StreamShape {
  readonly split: Split;
  /** The last call's input stops in the middle, as at the limit of tokens. */
  readonly cutInput?: boolean;
}

/**
 * The events that spell a message, in the order in which the Messages API sends them: `message_start`, for each block its
 * start, deltas and stop, a `ping` after the first start, then `message_delta` with the totals of usage, and
 * `message_stop`. Blocks of unknown types come whole in their start.
 */
export function* streamEvents(message: JsonObject, { split, cutInput = false }: StreamShape): Generator<JsonObject> {
  const { content, stop_reason, stop_sequence, stop_details, usage, context_management, ...head } = message;
  const blocks = arrayOf(content).filter(isObject);
  const lastCall = cutInput ? blocks.findLastIndex((block) => block.type === 'tool_use') : -1;
  yield {
    type: 'message_start',
    message: {
      ...head,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      ...(stop_details !== undefined && { stop_details: null }),
      ...(context_management !== undefined && { context_management: null }),
      usage: isObject(usage) ? { ...usage, output_tokens: 1 } : {},
    },
  };
  for (const [index, block] of blocks.entries()) {
    const { start, deltas } = spelled(block, split, index === lastCall);
    yield { type: 'content_block_start', index, content_block: start };
    if (index === 0) yield { type: 'ping' };
    for (const delta of deltas) yield { type: 'content_block_delta', index, delta };
    yield { type: 'content_block_stop', index };
  }
  if (blocks.length === 0) yield { type: 'ping' };
  yield {
    type: 'message_delta',
    delta: {
      stop_reason: stop_reason ?? null,
      stop_sequence: stop_sequence ?? null,
      ...(stop_details !== undefined && { stop_details }),
    },
    usage: usage ?? {},
    ...(context_management !== undefined && { context_management }),
  };
  yield { type: 'message_stop' };
}

interface Spelled {
  readonly start: JsonObject;
  readonly deltas: readonly JsonObject[];
}

function spelled(block: JsonObject, split: Split, cut: boolean): Spelled {
  if (CALLS.has(block.type ?? null)) {
    const text = inputText(block.input, split);
    const written = cut ? text.slice(0, Math.max(1, Math.floor(text.length / 2))) : text;
    // The real stream begins with an empty piece, and a call without arguments has nothing else.
    const pieces = !cut && text === '{}' ? [''] : ['', ...piecesOf(written, split)];
    return {
      start: { ...block, input: {} },
      deltas: pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    };
  }
  switch (block.type) {
    case 'text': {
      const { citations, ...rest } = block;
      const cited = arrayOf(citations);
      return {
        start: { ...rest, text: '', ...(citations !== undefined && { citations: cited.length > 0 ? [] : citations }) },
        deltas: [
          ...cited.map((citation) => ({ type: 'citations_delta', citation })),
          ...pieces(block.text, split).map((text) => ({ type: 'text_delta', text })),
        ],
      };
    }
    case 'thinking':
      return {
        start: { ...block, thinking: '', signature: '' },
        deltas: [
          ...pieces(block.thinking, split).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature ?? '' },
        ],
      };
    case 'compaction': {
      const { content, encrypted_content, ...rest } = block;
      return {
        start: { ...rest, content: null, ...(encrypted_content !== undefined && { encrypted_content: null }) },
        deltas: [
          {
            type: 'compaction_delta',
            content: content ?? null,
            ...(encrypted_content !== undefined && { encrypted_content }),
          },
        ],
      };
    }
    default:
      return { start: block, deltas: [] };
  }
}

function pieces(text: Json | undefined, split: Split): readonly string[] {
  return isString(text) ? piecesOf(text, split) : [];
}
