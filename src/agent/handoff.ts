/**
 * Rule of this file: a run that could not do all of its task says what whoever takes over needs, and nothing of it has to
 * be read out of the model's words.
 */
import { canonicalJson, printable } from '../tools/index.ts';
import { contentBlocks, isBlock, isObject } from './blocks.ts';
import type { Handoff, RunEnd, TriedCall } from './events.ts';
import type { LoopState } from './state.ts';

/** Ends that leave the task as it is, whatever was done of it. */
const UNFINISHED: ReadonlySet<RunEnd> = new Set(['limit', 'aborted', 'failed', 'truncated']);
/** Most calls that a sentence names. */
const MOST_NAMED = 5;

/**
 * What whoever takes over a run that has ended needs; undefined where there is nothing to take over: the model ended its
 * turn, and nothing of it was left to somebody who may decide.
 */
export function handoff(state: LoopState): Handoff | undefined {
  const { end, left, parked, tried } = state;
  if (end === null) return undefined;
  const notAllowed = deniedCalls(tried);
  const isLeft = tried.length + left.length > 0;
  if (UNFINISHED.has(end.how)) {
    if (end.how !== 'limit' && !isLeft) return undefined;
    return {
      ...whatIsThere(state),
      reason: end.how === 'limit' ? end.reason : end.how,
      message: end.message || `The reply was cut off: ${end.reason}.`,
    };
  }
  if (notAllowed.length + parked.length === 0) return undefined;
  return { ...whatIsThere(state), reason: 'permission', message: permissionMessage(notAllowed, parked) };
}

function whatIsThere(state: LoopState): Omit<Handoff, 'reason' | 'message'> {
  return {
    tried: state.tried,
    partialResults: partialResults(state),
    pending: [
      ...state.left.map(({ id, name, input }) => ({ kind: 'call' as const, callId: id, name, args: input })),
      ...state.parked.map((call) => ({ kind: 'approval' as const, ...call })),
    ],
    text: state.text,
  };
}

/** Results that the model was given, and what calls that failed had until then. */
function partialResults({ tried, transcript }: LoopState): Handoff['partialResults'] {
  const contents = new Map(
    transcript.messages
      .flatMap((message) => (isObject(message) ? contentBlocks(message.content) : []))
      .flatMap((block) =>
        isObject(block) && isBlock(block, 'tool_result') ? [[block.tool_use_id, block.content ?? ''] as const] : [],
      ),
  );
  return tried.flatMap(({ callId, name, outcome, partial }) => {
    const content = outcome === 'ok' ? contents.get(callId) : partial;
    return content === undefined ? [] : [{ callId, name, content }];
  });
}

/** Calls that were not allowed, and that didn't go well later either. */
function deniedCalls(tried: readonly TriedCall[]): readonly TriedCall[] {
  const open = new Map<string, TriedCall>();
  for (const call of tried) {
    if (call.outcome === 'parked') continue;
    const key = canonicalJson([call.name, call.args]);
    if (call.category === 'permission') open.set(key, call);
    else if (call.outcome === 'ok') open.delete(key);
  }
  return [...open.values()];
}

function permissionMessage(denied: readonly TriedCall[], parked: LoopState['parked']): string {
  const sentences = [
    ...(denied.length > 0 ? [`Not allowed: ${named(denied)}.`] : []),
    ...(parked.length > 0 ? [`Waiting for an approval: ${named(parked)}.`] : []),
    'Somebody who may decide has to take it from here.',
  ];
  return sentences.join(' ');
}

function named(calls: readonly { readonly name: string }[]): string {
  const names = [...new Set(calls.map(({ name }) => printable(name, { maxLength: 80 })))];
  const more = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
