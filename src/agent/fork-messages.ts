import type { Json } from '../contracts/index.ts';
import { contentBlocks, isBlock, isObject, unfinishedAfter } from './blocks.ts';
import { withoutUnfinished } from './close-messages.ts';

/**
 * The beginning of a conversation, fit to be gone on from: another run can take another way from there. Calls that the
 * cut leaves without their results are left out, with what stands beside them only for their sake.
 *
 * @param messages of an earlier result
 * @param end the first message that is left out; default: all are kept
 */
export function forkMessages(messages: readonly Json[], end: number = messages.length): Json[] {
  const kept = messages.slice(0, Math.max(0, end));
  const last = kept.at(-1);
  if (isObject(last) && contentBlocks(last.content).some((block) => isBlock(block, 'tool_use'))) kept.pop();
  const unfinished = kept.reduce<readonly string[]>(
    (open, message) =>
      isObject(message) && message.role === 'assistant' ? unfinishedAfter(open, contentBlocks(message.content)) : open,
    [],
  );
  return [...withoutUnfinished(kept, unfinished)];
}
