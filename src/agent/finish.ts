import type { Json, LoopEffect, LoopEvent } from '../contracts/index.ts';
import { harnessNote } from '../tools/index.ts';
import { isObject } from './blocks.ts';
import type { PendingCall } from './reply.ts';
import { notRunResult } from './results.ts';
import type { Ending, LoopState } from './state.ts';
import { addNote, answerCall, closeTranscript, unanswered } from './transcript.ts';

/** What a step gives. */
export type Next = { readonly state: LoopState; readonly effects: readonly LoopEffect[] };

/** Nothing to do but wait. */
export function still(state: LoopState): Next {
  return { state, effects: [] };
}

/** Answers what is open as not run, and closes the transcript so that another run can go on from it. */
export function finish(state: LoopState, ending: Ending): Next {
  const settled = leave(state, unanswered(state.transcript), ending);
  if (settled.transcript.state === 'open') throw new Error('A call was left without an answer.');
  const closed = closeTranscript(settled.transcript);
  const transcript =
    ending.how === 'limit' || ending.how === 'aborted'
      ? addNote(closed, stopNote(ending), state.config.noteRole)
      : closed;
  return {
    state: { ...settled, transcript, todo: [], running: [], waitingFor: 'nothing', stopping: null, end: ending },
    effects: [{ type: 'end', how: ending.how }],
  };
}

/** Answers calls as not run, and remembers them for the hand-off. */
export function leave(state: LoopState, calls: readonly PendingCall[], ending: Ending): LoopState {
  let { transcript } = state;
  for (const call of calls) {
    if (transcript.state === 'open') transcript = answerCall(transcript, call.id, notRunResult(call, why(ending)));
  }
  return { ...state, transcript, left: [...state.left, ...calls] };
}

/** What a stop from outside the fold means. */
export function endingOf(event: Extract<LoopEvent, { readonly detail: Json }>): Ending {
  const detail = isObject(event.detail) ? event.detail : {};
  const text = (field: string, otherwise: string) => {
    const value = detail[field];
    return typeof value === 'string' && value !== '' ? value : otherwise;
  };
  const hint = text('hint', '');
  if (event.type === 'limit') {
    return { how: 'limit', reason: text('limit', 'ms'), message: text('message', 'The run reached a limit.') };
  }
  const how = detail.by === 'model' ? 'failed' : 'aborted';
  return {
    how,
    reason: text('code', how === 'failed' ? 'model_failed' : 'aborted'),
    message: text('message', how === 'failed' ? 'The model could not be asked.' : 'The run was stopped.'),
    ...(hint !== '' && { hint }),
  };
}

function why(ending: Ending): string {
  switch (ending.how) {
    case 'aborted':
      return 'the run was stopped';
    case 'limit':
      return 'the run reached a limit';
    case 'truncated':
      return 'the reply it stands in was cut off';
    default:
      return 'the reply it stands in could not be acted on';
  }
}

function stopNote(ending: Ending): string {
  const what = ending.how === 'aborted' ? 'the user stopped it' : 'it reached a limit';
  return harnessNote(`the run above ended before it was finished, because ${what}.`);
}
