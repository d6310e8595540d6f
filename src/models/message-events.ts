import type { Json, JsonObject } from '../contracts/index.ts';
import { arrayOf, copyOf, isObject, stringOf } from './json-shape.ts';

/**
 * The stream events that spell a whole message, for models that don't stream of themselves.
 *
 * @param message a Messages API response message
 * @param options.pieceLength the longest piece of text or input in one delta; default: all in one
 */
export function* messageEvents(message: Json, options: { readonly pieceLength?: number } = {}): Generator<JsonObject> {
  if (!isObject(message)) throw new TypeError('a message is a JSON object');
  const { content, stop_reason, stop_sequence, usage, ...head } = copyOf(message);
  const size = options.pieceLength ?? Number.POSITIVE_INFINITY;
  yield {
    type: 'message_start',
    message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage: usage ?? {} },
  };
  for (const [index, block] of arrayOf(content).entries()) {
    if (!isObject(block)) continue;
    yield* blockEvents(index, block, size);
  }
  yield {
    type: 'message_delta',
    delta: { stop_reason: stop_reason ?? null, stop_sequence: stop_sequence ?? null },
    usage: usage ?? {},
  };
  yield { type: 'message_stop' };
}

function* blockEvents(index: number, block: JsonObject, size: number): Generator<JsonObject> {
  const delta = (fields: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta: fields });
  if (block.type === 'text') {
    yield { type: 'content_block_start', index, content_block: { ...block, text: '' } };
    for (const text of pieces(stringOf(block.text), size)) yield delta({ type: 'text_delta', text });
  } else if (block.type === 'tool_use') {
    yield { type: 'content_block_start', index, content_block: { ...block, input: {} } };
    for (const partial_json of pieces(JSON.stringify(block.input ?? {}), size)) {
      yield delta({ type: 'input_json_delta', partial_json });
    }
  } else {
    yield { type: 'content_block_start', index, content_block: block };
  }
  yield { type: 'content_block_stop', index };
}

/** Cut between characters, never inside a surrogate pair. */
function pieces(text: string, size: number): readonly string[] {
  if (text.length <= size) return text === '' ? [] : [text];
  const characters = [...text];
  const cut: string[] = [];
  for (let at = 0; at < characters.length; at += size) cut.push(characters.slice(at, at + size).join(''));
  return cut;
}
