import type { Json, JsonObject } from '../contracts/index.ts';
import { contentBlocks, isBlock, isObject, isThinking, serverCallId } from './blocks.ts';

/**
 * The messages without what can't stand before a user message: provider-run calls that never got their result, the
 * calls that their code made (with the results of these), and thinking blocks that would be an assistant message's
 * last. Messages that are empty then are left out; all others stay the same objects.
 *
 * @param unfinished ids of provider-run calls without a result
 */
export function withoutUnfinished(messages: readonly Json[], unfinished: readonly string[]): readonly Json[] {
  const last = messages.at(-1);
  const endsInThinking = isObject(last) && last.role === 'assistant' && isThinking(contentBlocks(last.content).at(-1));
  if (unfinished.length === 0 && !endsInThinking) return messages;
  const gone = new Set(unfinished);
  const goneCalls = new Set<string>();
  const isKept = (block: Json): boolean => {
    if (gone.has(serverCallId(block) ?? '')) return false;
    if (isBlock(block, 'tool_use') && gone.has(callerId(block))) {
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

function callerId(block: JsonObject): string {
  return isObject(block.caller) && typeof block.caller.tool_id === 'string' ? block.caller.tool_id : '';
}
