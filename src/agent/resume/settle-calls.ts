import type { Identity, Outcome, Recorder } from '../../contracts/index.ts';
import { modelContent } from '../../tools/index.ts';
import { type Fate, LOST, TOOK_EFFECT, type UnsureAnswer, type UnsureCall } from './open-calls.ts';
import type { ResumeOptions } from './resume-options.ts';
import type { CallRecords } from './run-segment.ts';

interface Settling {
  readonly who: Identity;
  readonly conversation: string;
  readonly records: ReadonlyMap<string, CallRecords>;
  readonly recorder: Recorder;
  /** Gives a recorded result the form in which a model is shown it. */
  shape(outcome: Outcome): Outcome;
  readonly unsure: ResumeOptions['unsure'];
  readonly signal: AbortSignal;
}

interface Settled {
  /** Ids of calls that are given out once more. */
  readonly again: readonly string[];
  readonly ended: readonly { readonly callId: string; readonly name: string; readonly outcome: Outcome }[];
}

/** Says of each open call what becomes of it, asking where nobody can know. The end of such a call is on record then. */
export async function settleCalls(
  open: readonly { readonly callId: string; readonly name: string; readonly fate: Fate }[],
  settling: Settling,
): Promise<Settled> {
  const again: string[] = [];
  const ended: { callId: string; name: string; outcome: Outcome }[] = [];
  // One after another: a person is asked.
  for (const { callId, name, fate } of open) {
    if (fate.kind === 'again') again.push(callId);
    else if (fate.kind === 'ended') ended.push({ callId, name, outcome: settling.shape(fate.outcome) });
    else {
      const answer = await ask(fate.call, settling);
      if (answer === 'run_again') again.push(callId);
      else ended.push({ callId, name, outcome: closed(fate.call, answer, settling) });
    }
  }
  return { again, ended };
}

/** Whoever is asked may never answer: a run that is stopped meanwhile doesn't wait for them. */
async function ask(call: UnsureCall, { unsure, signal }: Settling): Promise<UnsureAnswer> {
  if (signal.aborted || unsure === undefined) return 'unknown';
  let onAbort = () => {};
  const stopped = new Promise<'unknown'>((resolve) => {
    onAbort = () => resolve('unknown');
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    const answer = await Promise.race([unsure(call, signal), stopped]);
    return answer === 'run_again' || answer === 'took_effect' ? answer : 'unknown';
  } catch {
    return 'unknown';
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The record of the call's intent gets its end. */
function closed(call: UnsureCall, answer: UnsureAnswer, { who, conversation, records, recorder }: Settling): Outcome {
  const outcome = answer === 'took_effect' ? TOOK_EFFECT : LOST;
  const intent = records.get(call.callId)?.decided?.intent;
  if (intent === undefined) return outcome;
  const { ref, args, behind, facts, origins, labels, decision, asked } = intent;
  recorder.outcome({
    callId: call.callId,
    conversation,
    who,
    name: call.name,
    ref,
    args,
    ...(behind !== undefined && { behind }),
    ...(facts !== undefined && { facts }),
    ...(origins !== undefined && { origins }),
    ...(labels !== undefined && { labels }),
    decision,
    ...(asked !== undefined && { asked }),
    startedAt: call.at,
    ms: Math.max(0, Date.now() - call.at),
    attempts: 1,
    outcome,
  });
  return outcome;
}

/** As the dispatcher's default. */
const MOST_CHARS = 40_000;

/** The line of a call holds the result as received; what a model is shown is made from it. */
export function shaped(outcome: Outcome, maxChars: number | undefined, keep: (full: string) => string): Outcome {
  if (outcome.kind !== 'ok' || outcome.content !== undefined) return outcome;
  const { raw, isError } = outcome;
  return { ...outcome, content: modelContent(raw, { maxChars: maxChars ?? MOST_CHARS, keep, isError }) };
}

/** Keeps the whole of each result again that was cut, so that the handle in the conversation is good. */
export function keepCut(outcomes: readonly { readonly outcome: Outcome }[], keep: (full: string) => string): void {
  for (const { outcome } of outcomes) {
    if (outcome.kind !== 'ok' || !/\bres_[0-9a-f]{24}\b/.test(JSON.stringify(outcome.content ?? ''))) continue;
    modelContent(outcome.raw, { maxChars: 1, keep, isError: outcome.isError });
  }
}
