import type { Json, JsonObject } from '../contracts/index.ts';
import { contentBlocks, isObject } from './blocks.ts';
import type { RunEvent } from './events.ts';

/** What of a reply is told while it comes. */
export type Piece = Extract<RunEvent, { readonly type: 'text' | 'thinking' | 'arguments' }>;

/**
 * Reads a reply's pieces off its Messages API stream events. It tells, and decides nothing: what is run is taken from
 * the whole reply alone, since arguments that are still coming may be cut, void, or no JSON at all.
 */
export interface DeltaReader {
  /** The pieces that an event brings: mostly one, of an event that isn't known none. */
  read(event: Json): readonly Piece[];
  /** Once the reply is there: what of it hasn't been told, as of a model that doesn't stream. */
  rest(message: Json): readonly Piece[];
}

/** Blocks are known by their place in the stream: an id may be changed when the reply is taken up. */
export function createDeltaReader(): DeltaReader {
  let open = new Map<number, JsonObject>();
  let told = new Set<Piece['type']>();
  const telling = (pieces: readonly Piece[]): readonly Piece[] => {
    for (const piece of pieces) told.add(piece.type);
    return pieces;
  };
  return {
    read(event) {
      if (!isObject(event)) return [];
      if (event.type === 'message_start') {
        open = new Map();
        told = new Set();
        return [];
      }
      const { index } = event;
      if (typeof index !== 'number') return [];
      if (event.type === 'content_block_start' && isObject(event.content_block)) {
        open.set(index, event.content_block);
        return telling(opening(index, event.content_block));
      }
      const block = open.get(index);
      if (event.type !== 'content_block_delta' || block === undefined || !isObject(event.delta)) return [];
      return telling(grown(index, block, event.delta));
    },
    rest: (message) =>
      contentBlocks(isObject(message) ? message.content : undefined)
        .flatMap(whole)
        .filter(isUntold),
  };

  function isUntold(piece: Piece): boolean {
    return !told.has(piece.type);
  }
}

function opening(index: number, block: JsonObject): readonly Piece[] {
  // What a call is of is known before anything of its arguments.
  return block.type === 'tool_use' ? [argumentsPiece(index, block, '')] : words(block);
}

function grown(index: number, block: JsonObject, delta: JsonObject): readonly Piece[] {
  switch (delta.type) {
    case 'text_delta':
    case 'thinking_delta':
      return words({ ...delta, type: String(delta.type).replace('_delta', '') });
    case 'input_json_delta':
      return block.type === 'tool_use' && typeof delta.partial_json === 'string' && delta.partial_json !== ''
        ? [argumentsPiece(index, block, delta.partial_json)]
        : [];
    default:
      return [];
  }
}

function whole(block: Json, index: number): readonly Piece[] {
  if (!isObject(block)) return [];
  if (block.type !== 'tool_use') return words(block);
  return [argumentsPiece(index, block, JSON.stringify(block.input ?? {}))];
}

function words(block: JsonObject): readonly Piece[] {
  const { type } = block;
  if (type !== 'text' && type !== 'thinking') return [];
  const text = block[type];
  return typeof text === 'string' && text !== '' ? [{ type, text }] : [];
}

function argumentsPiece(index: number, block: JsonObject, piece: string): Piece {
  const { name, toolset_name: toolset } = block;
  return {
    type: 'arguments',
    index,
    name: typeof name === 'string' ? name : '',
    piece,
    ...(typeof toolset === 'string' && { toolset }),
  };
}
