import type { Json, JsonObject } from '../contracts/index.ts';
import { codeCallerId, contentBlocks, isBlock, isObject, isProviders, isThinking, serverCallId } from './blocks.ts';

/**
 * The messages without what can't stand before a user message: provider-run calls that never got their result, the
 * calls that their code made (with the results of these), thinking blocks behind those, as they are bound to what stood
 * before them, and thinking blocks that would be an assistant message's last. Messages that are empty then are left out;
 * all others stay the same objects.
 *
 * @param unfinished ids of provider-run calls without a result
 */
export function withoutUnfinished(messages: readonly Json[], unfinished: readonly string[]): readonly Json[] {
  const last = messages.at(-1);
  const endsInThinking = isObject(last) && last.role === 'assistant' && isThinking(contentBlocks(last.content).at(-1));
  if (unfinished.length === 0 && !endsInThinking) return messages;
  const gone = new Set(unfinished);
  const goneCalls = new Set<string>();
  const isGone = (id: string | null) => id !== null && gone.has(id);
  let isBehind = false;
  const isKept = (block: Json): boolean => {
    if (isBehind && isThinking(block)) return false;
    if (isGone(serverCallId(block))) {
      isBehind = true;
      return false;
    }
    if (isBlock(block, 'tool_use') && isGone(codeCallerId(block))) {
      if (typeof block.id === 'string') goneCalls.add(block.id);
      return false;
    }
    return !(isBlock(block, 'tool_result') && goneCalls.has(String(block.tool_use_id)));
  };
  const kept = gone.size === 0 ? [...messages] : messages.flatMap((message) => keep(message, isKept));
  const end = kept.at(-1);
  if (isObject(end) && end.role === 'assistant') {
    const blocks = [...contentBlocks(end.content)];
    while (isThinking(blocks.at(-1))) blocks.pop();
    kept.splice(-1, 1, ...withBlocks(end, blocks));
  }
  return kept;
}

function keep(message: Json, isKept: (block: Json) => boolean): Json[] {
  return isObject(message) ? withBlocks(message, contentBlocks(message.content).filter(isKept)) : [message];
}

function withBlocks(message: JsonObject, blocks: readonly Json[]): JsonObject[] {
  if (blocks.length === 0) return [];
  return blocks.length === contentBlocks(message.content).length ? [message] : [{ ...message, content: [...blocks] }];
}

/**
 * The messages as a paused turn goes back to the provider: unchanged, but for white space at the very end, which the
 * API refuses.
 *
 * @returns null when nothing of the turn is the provider's: there is nothing that it could go on with
 */
export function toSendBack(messages: readonly Json[]): readonly Json[] | null {
  const from = messages.findLastIndex((message) => !(isObject(message) && message.role === 'assistant')) + 1;
  const turn = messages.slice(from);
  const isPaused = turn.some((message) => isObject(message) && contentBlocks(message.content).some(isProviders));
  if (!isPaused) return null;
  const last = turn.at(-1);
  const blocks = isObject(last) ? contentBlocks(last.content) : [];
  const end = blocks.at(-1);
  if (!isObject(last) || !isBlock(end, 'text') || typeof end.text !== 'string') return messages;
  const text = end.text.trimEnd();
  if (text === end.text) return messages;
  return [...messages.slice(0, -1), { ...last, content: [...blocks.slice(0, -1), { ...end, text }] }];
}
