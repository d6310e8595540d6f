/**
 * Rule of this file: what a request leaves out, it leaves out whole. A cut stands where a run begins or where the model
 * summed up what was before, so no call is parted from its result; the transcript itself keeps everything.
 */
import type { Json, JsonObject } from '../contracts/index.ts';
import { harnessNote, isHarnessNote } from '../tools/index.ts';
import { contentBlocks, isBlock, isObject, isProviders, isThinking } from './blocks.ts';
import type { LoopState } from './state.ts';

/** The `messages` of the next request. */
export function sentMessages({ config, transcript }: LoopState): readonly Json[] {
  const { keepRuns } = config.context ?? {};
  const said = fromSummary(transcript.messages);
  return keepRuns === undefined ? said : lastRuns(said, keepRuns);
}

const LEFT_OUT = harnessNote('what was said before this in the conversation is left out here.');

/** What was said in the last runs, from a message of the user on. */
function lastRuns(messages: readonly Json[], keepRuns: number): readonly Json[] {
  const starts = messages.flatMap((message, at) => (isStart(message) ? [at] : []));
  const from = starts.at(-keepRuns) ?? 0;
  if (starts.length <= keepRuns || from === 0) return messages;
  const last = starts.at(-1) ?? 0;
  const kept = messages.slice(from).flatMap((message, at) => {
    // Thinking is bound to what stood before it; that of the run under way was made behind the same cut.
    if (from + at >= last || !isObject(message) || message.role !== 'assistant') return [message];
    const content = contentBlocks(message.content).filter((block) => !isThinking(block));
    return content.length === 0 ? [] : [{ ...message, content: [...content] }];
  });
  return [{ role: 'user', content: LEFT_OUT }, ...kept];
}

/** A user message with words of the user: no results, and not a note alone. */
function isStart(message: Json): boolean {
  if (!isObject(message) || message.role !== 'user') return false;
  const blocks = contentBlocks(message.content);
  const isNote = (block: Json) => isBlock(block, 'text') && typeof block.text === 'string' && isHarnessNote(block.text);
  return blocks.some((block) => !isNote(block)) && !blocks.some((block) => isBlock(block, 'tool_result'));
}

/**
 * The conversation from its last summary on: the API takes only one, as the first block. A `compaction` block without
 * content is one that failed, and stands for nothing.
 */
function fromSummary(messages: readonly Json[]): readonly Json[] {
  const at = messages.findLastIndex((message) => blocksOf(message).some(isSummary));
  const message = messages[at];
  if (!isObject(message)) return messages;
  const blocks = contentBlocks(message.content);
  const place = blocks.findLastIndex(isSummary);
  if (at === 0 && place === 0) return messages;
  const before = blocks.slice(0, place).filter((block) => isCall(block) && !isSummary(block));
  const content = [...blocks.slice(place, place + 1), ...before, ...blocks.slice(place + 1)];
  return [{ ...message, content }, ...messages.slice(at + 1)];
}

function blocksOf(message: Json): readonly Json[] {
  return isObject(message) && message.role === 'assistant' ? contentBlocks(message.content) : [];
}

function isSummary(block: Json): block is JsonObject {
  return isBlock(block, 'compaction') && typeof block.content === 'string';
}

/** What something later may answer, or be the answer to. */
function isCall(block: Json): boolean {
  return isBlock(block, 'tool_use') || isProviders(block);
}
