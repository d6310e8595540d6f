import type { Json, JsonObject } from '../contracts/index.ts';
import { contentBlocks, isBlank, isBlock, isObject, unfinishedAfter } from './blocks.ts';
import type { ReadyTranscript } from './transcript.ts';

/**
 * Reads a list of messages from outside (an earlier run's, or a caller's own) into a transcript. The messages stay the
 * same objects: what the model has cached of them stays cached.
 *
 * @returns the transcript, or what is wrong with the list, naming the message
 */
export function readMessages(messages: readonly Json[]): ReadyTranscript | { readonly problem: string } {
  const ids = new Set<string>();
  /** Calls of the assistant turn before, unanswered. */
  let open: readonly string[] = [];
  let unfinished: readonly string[] = [];
  for (const [at, message] of messages.entries()) {
    const place = `messages[${at}]`;
    if (!isObject(message) || !ROLES.includes(message.role ?? null)) {
      return { problem: `${place} is not a user, assistant or system message` };
    }
    const blocks = contentBlocks(message.content);
    if (blocks.length === 0 || blocks.some((block) => !isObject(block) || isBlank(block))) {
      return { problem: `${place} has no content, or blank text in it` };
    }
    if (message.role === 'system') {
      const problem = systemProblem(blocks, messages[at - 1], messages[at + 1]);
      if (problem !== null) return { problem: `${place} ${problem}` };
      continue;
    }
    if (message.role === 'assistant') {
      if (at === 0 && !isBlock(blocks[0], 'compaction')) return { problem: `${place} is not a user message` };
      if (open.length > 0) return { problem: `${place} comes before the results of ${open.join(', ')}` };
      const calls = blocks
        .filter((block) => isBlock(block, 'tool_use'))
        .map((block) => String((block as JsonObject).id));
      for (const id of calls) {
        if (ids.has(id)) return { problem: `${place} holds a second call with the id ${id}` };
        ids.add(id);
      }
      open = calls;
      unfinished = unfinishedAfter(unfinished, blocks);
      continue;
    }
    const problem = userProblem(blocks, open, unfinished);
    if (problem !== null) return { problem: `${place} ${problem}` };
    open = [];
  }
  if (open.length > 0) return { problem: `the last message has calls without results: ${open.join(', ')}` };
  return { state: 'ready', messages, ids, unfinished };
}

const ROLES: readonly Json[] = ['user', 'assistant', 'system'];

/** A word of the harness, or of the caller as the system, in the middle of a conversation. */
function systemProblem(blocks: readonly Json[], before: Json | undefined, after: Json | undefined): string | null {
  if (!isObject(before) || before.role !== 'user') return 'is a system message that follows no user message';
  if (isObject(after) && after.role !== 'assistant') return 'is a system message before one of the user or the system';
  const isFit = (block: Json) => ['text', 'tool_addition', 'tool_removal'].some((type) => isBlock(block, type));
  return blocks.every(isFit) ? null : 'is a system message with something else than text or changes of tools';
}

function userProblem(blocks: readonly Json[], open: readonly string[], unfinished: readonly string[]): string | null {
  const isResult = (block: Json) => isBlock(block, 'tool_result');
  const answered = blocks.filter(isResult).map((block) => (isObject(block) ? String(block.tool_use_id) : ''));
  const stray = answered.find((id, at) => !open.includes(id) || answered.indexOf(id) !== at);
  if (stray !== undefined) return `answers ${stray}, which is no call of the message before, or answers it twice`;
  const missing = open.filter((id) => !answered.includes(id));
  if (missing.length > 0) return `leaves calls without results: ${missing.join(', ')}`;
  const results = blocks.findIndex((block) => !isResult(block));
  if (results !== -1 && blocks.slice(results).some(isResult)) return 'has other content before its results';
  if (unfinished.length > 0 && results !== -1)
    return 'says something while a call that the provider runs is unfinished';
  return null;
}
