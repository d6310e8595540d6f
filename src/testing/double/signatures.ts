import type { Json, JsonObject } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import { arrayOf, isObject, isString } from '../rules/shape.ts';

const MARK = 'c2ln';

/**
 * The signature of a thinking or compaction block. It hangs on nothing but the block's text, so that a double that was
 * started anew still knows its own.
 */
function signatureOf(text: string): string {
  return `${MARK}${Buffer.from(sha256(`bridle double ${text}`), 'hex').toString('base64')}`;
}

/** What is remembered of the blocks that were given out, so that what comes back can be compared. */
export interface GivenBlocks {
  /** Fills in what is missing, and remembers it. */
  give(message: JsonObject): JsonObject;
  /** True for a signature that belongs to this text, made here or given out here. */
  knows(text: string, signature: string): boolean;
  /** The thinking blocks of the reply that made this call, or `undefined` for a call of somebody else's. */
  thinkingOf(callId: string): readonly Json[] | undefined;
}

export function givenBlocks(): GivenBlocks {
  const known = new Set<string>();
  const thinking = new Map<string, readonly Json[]>();
  const key = (text: string, signature: string): string => sha256(canonicalJson([text, signature]));
  return {
    give(message) {
      const content = arrayOf(message.content).map((block) => signed(block));
      const thoughts = content.filter(isThinking);
      for (const block of content) {
        if (!isObject(block)) continue;
        const text = signedText(block);
        if (text !== undefined && isString(block.signature)) known.add(key(text, block.signature));
        if (block.type === 'tool_use' && isString(block.id)) thinking.set(block.id, structuredClone(thoughts));
      }
      return { ...message, content };
    },
    knows: (text, signature) => signature === signatureOf(text) || known.has(key(text, signature)),
    thinkingOf: (callId) => thinking.get(callId),
  };
}

/** `thinking` and `redacted_thinking` blocks. */
function isThinking(block: Json): block is JsonObject {
  return isObject(block) && (block.type === 'thinking' || block.type === 'redacted_thinking');
}

/** The text that a block's signature vouches for. */
function signedText(block: JsonObject): string | undefined {
  if (block.type === 'thinking') return String(block.thinking ?? '');
  if (block.type === 'compaction' && isString(block.content)) return block.content;
  return undefined;
}

function signed(block: Json): Json {
  if (!isObject(block)) return block;
  const text = signedText(block);
  if (text === undefined || (isString(block.signature) && block.signature !== '')) return block;
  return { ...block, signature: signatureOf(text) };
}
