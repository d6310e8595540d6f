import type { Outcome } from '../contracts/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { PendingCall } from './reply.ts';

/**
 * What becomes of the other calls of a reply when one of them goes wrong.
 *
 * - `go_on`: nothing; they run as if it had gone well.
 * - `skip`: those that haven't begun are not run; those under way beside it go on.
 * - `cancel`: those that haven't begun are not run, and those under way are cancelled.
 */
export type SiblingAct = 'go_on' | 'skip' | 'cancel';

/** By what went wrong. */
export interface SiblingRules {
  /** A rule, a hook or a person said no, or nobody has said yes yet. */
  readonly denied: SiblingAct;
  /** It broke, its tool called its result an error, or it couldn't be run as it was written. */
  readonly failed: SiblingAct;
  /** It was silent for too long, or took too long. */
  readonly timedOut: SiblingAct;
}

export type Trouble = keyof SiblingRules;

const ACTS: readonly unknown[] = ['go_on', 'skip', 'cancel'] satisfies readonly SiblingAct[];
const TROUBLES: readonly string[] = ['denied', 'failed', 'timedOut'] satisfies readonly Trouble[];

/**
 * The rules that an option states: one act for all, or one each; what isn't named goes on.
 *
 * @throws BridleError `siblings_invalid`
 */
export function siblingRules(option: SiblingAct | Partial<SiblingRules> = 'go_on'): SiblingRules {
  const given: Partial<SiblingRules> =
    typeof option === 'string' ? { denied: option, failed: option, timedOut: option } : option;
  const wrong = Object.entries(given).find(([name, act]) => !TROUBLES.includes(name) || !ACTS.includes(act));
  if (wrong !== undefined) {
    const [name, act] = wrong;
    throw new BridleError('siblings_invalid', `siblings: ${printable(`${name}: ${String(act)}`)} is no such rule.`, {
      hint: "Give 'go_on', 'skip' or 'cancel', for all or for each of denied, failed and timedOut.",
    });
  }
  return { denied: 'go_on', failed: 'go_on', timedOut: 'go_on', ...given };
}

/** What went wrong with a call that has come back, or null. One that was cancelled was stopped by us. */
export function troubleOf(outcome: Outcome): Trouble | null {
  switch (outcome.kind) {
    case 'ok':
      return outcome.isError ? 'failed' : null;
    case 'denied':
    case 'parked':
      return 'denied';
    case 'failed':
      return outcome.failure.timedOut === true ? 'timedOut' : 'failed';
    case 'invalid':
    case 'unknown_tool':
    case 'input_required':
      return 'failed';
    case 'cancelled':
      return null;
  }
}

const WORDS: Readonly<Record<Trouble, string>> = {
  denied: 'was not allowed',
  failed: 'failed',
  timedOut: 'ran out of time',
};

/** Why the calls beside this one don't run. */
export function siblingReason({ id, name }: PendingCall, trouble: Trouble): string {
  const which = `${printable(name, { maxLength: 80 })} (${printable(id, { maxLength: 80 })})`;
  return `another call of the same reply, ${which}, ${WORDS[trouble]}`;
}
