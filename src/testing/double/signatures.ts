import type { Json, JsonObject } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import { isThinking, type Memory } from '../rules/memory-rules.ts';
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
export interface GivenBlocks extends Memory {
  /** Fills in what is missing of a reply to this request, and remembers it. */
  give(message: JsonObject, request: JsonObject): JsonObject;
}

export function givenBlocks(): GivenBlocks {
  const known = new Set<string>();
  const thinking = new Map<string, readonly Json[]>();
  const before = new Map<string, Set<string>>();
  const changes = new Map<string, Json>();
  const key = (text: string, signature: string): string => sha256(canonicalJson([text, signature]));
  const vouches = (text: string, signature: string): boolean =>
    signature === signatureOf(text) || known.has(key(text, signature));
  return {
    give(message, request) {
      const content = arrayOf(message.content).map((block) => signed(block));
      const thoughts = content.filter(isThinking);
      const conversation = thoughts.length > 0 ? conversationBefore(request, arrayOf(request.messages).length) : '';
      for (const block of content) {
        if (!isObject(block)) continue;
        const text = signedText(block);
        if (text !== undefined && isString(block.signature)) {
          known.add(key(text, block.signature));
          if (block.type === 'compaction') changes.set(block.signature, structuredClone(block.tool_changes ?? null));
          else before.set(block.signature, (before.get(block.signature) ?? new Set()).add(conversation));
        }
        if (block.type === 'tool_use' && isString(block.id)) thinking.set(block.id, structuredClone(thoughts));
      }
      return { ...message, content };
    },
    knows: vouches,
    thinkingOf: (callId) => thinking.get(callId),
    belongs({ signature }, body, index) {
      const conversations = isString(signature) ? before.get(signature) : undefined;
      return conversations === undefined || conversations.has(conversationBefore(body, index));
    },
    changesOf: (signature) => changes.get(signature),
  };
}

/** The text that a block's signature vouches for. */
function signedText(block: JsonObject): string | undefined {
  if (block.type === 'thinking') return String(block.thinking ?? '');
  return block.type === 'compaction' && isString(block.content) ? block.content : undefined;
}

function signed(block: Json): Json {
  if (!isObject(block)) return block;
  const text = signedText(block);
  if (text === undefined || (isString(block.signature) && block.signature !== '')) return block;
  return { ...block, signature: signatureOf(text) };
}

/**
 * What a thinking block is bound to: the system prompt, the tools and all messages before its own. Cache marks don't
 * count, a string is one text, and neighbours of one role are one message.
 */
function conversationBefore(body: JsonObject, index: number): string {
  const turns: { role: Json; content: Json[] }[] = [];
  for (const message of arrayOf(body.messages).slice(0, index)) {
    if (!isObject(message)) continue;
    const role = message.role ?? null;
    const content = blocksOf(message.content);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  // Deferred tools aren't in the prompt, so more of them change nothing.
  const tools = arrayOf(body.tools).filter((tool) => !(isObject(tool) && tool.defer_loading === true));
  return sha256(canonicalJson([blocksOf(body.system), unmarked([...tools]), turns]));
}

function blocksOf(content: Json | undefined): Json[] {
  return isString(content) ? [{ type: 'text', text: content }] : arrayOf(unmarked(content ?? [])).slice();
}

function unmarked(value: Json): Json {
  if (Array.isArray(value)) return value.map(unmarked);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'cache_control' && name !== 'citations')
      .map(([name, each]) => [name, unmarked(each)]),
  );
}
