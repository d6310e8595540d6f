/**
 * Rule of this file: what is known to have ended is not run again, what is known not to have begun is, and of a write
 * that may have run nobody but a person says what becomes of it.
 */
import type { Executed, Json, Outcome } from '../../contracts/index.ts';
import type { PendingCall } from '../reply.ts';
import type { CallRecords } from './run-segment.ts';

/** A call that may have taken effect: it was about to be made when the run broke off. */
export interface UnsureCall {
  readonly callId: string;
  readonly name: string;
  readonly args: Json;
  /** What its preview said that it would do, where it has one. */
  readonly facts?: Json;
  /** When it was let go, Unix time in milliseconds. */
  readonly at: number;
}

/**
 * What becomes of a call that may have taken effect.
 *
 * - `run_again`: make it once more, under the rules of any call.
 * - `took_effect`: it did; the model is told so, and that its result is lost.
 * - `unknown`: nobody can say; the model is told that.
 */
export type UnsureAnswer = 'run_again' | 'took_effect' | 'unknown';

export type Fate =
  | { readonly kind: 'again' }
  | { readonly kind: 'unsure'; readonly call: UnsureCall }
  | { readonly kind: 'ended'; readonly outcome: Outcome };

/**
 * What becomes of a call that was given out and has no outcome in the loop.
 *
 * @param isStopping the run was already being stopped: nothing is given out any more
 */
export function fateOf(call: PendingCall, { decided, ended }: CallRecords, isStopping: boolean): Fate {
  if (ended) return { kind: 'ended', outcome: ended.outcome };
  if (!decided) return isStopping ? { kind: 'ended', outcome: NOT_RUN } : { kind: 'again' };
  const { at, intent } = decided;
  // An idempotent call that ran comes to the same when it runs once more.
  if (intent.effect !== 'write' && !isStopping) return { kind: 'again' };
  if (isStopping) return { kind: 'ended', outcome: LOST };
  const { id, name, input } = call;
  return {
    kind: 'unsure',
    call: { callId: id, name, args: input, at, ...(intent.facts !== undefined && { facts: intent.facts }) },
  };
}

/** The run broke off while the call ran, and it is not known what came of it. */
export const LOST = failed(
  'The run broke off while this call was being made. Whether it took effect is not known: find out before you repeat it.',
  'unknown',
);

export const NOT_RUN = failed('This call was not run: the run was stopped. It had no effect.', 'not_executed');

export const TOOK_EFFECT = failed(
  'The run broke off while this call was being made. The person you work for says that it took effect. ' +
    "Its result is lost; don't repeat it.",
  'executed',
);

function failed(message: string, executed: Executed): Outcome {
  const retryable = executed === 'not_executed';
  return { kind: 'failed', failure: { category: 'transient', retryable, message, executed, attempts: [] } };
}
