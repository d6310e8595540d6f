import type { CallOutcomeRecord, Executed, IntentRecord, Recorder } from '../../contracts/index.ts';
import { printable } from '../../tools/index.ts';

/** What the calls of a run did, as far as whoever started it has to know. */
export interface EffectsOfRun {
  readonly recorder: Recorder;
  /** Of all calls together: whether something may have been changed. */
  executed(): Executed;
  /** The last calls, one line each. */
  attempts(): readonly string[];
}

const MOST_LINES = 20;
const LINE = 200;

export function effectsOfRun(): EffectsOfRun {
  /** Calls that may change something and haven't ended. */
  const open = new Set<string>();
  const lines: string[] = [];
  let known: Executed = 'not_executed';
  return {
    recorder: {
      async intent({ callId, effect }: IntentRecord) {
        if (effect !== 'read') open.add(callId);
      },
      outcome(record) {
        lines.push(lineOf(record));
        if (lines.length > MOST_LINES) lines.shift();
        // What has no intent on record has not run.
        if (open.delete(record.callId)) known = worse(known, executedOf(record));
      },
    },
    executed: () => (open.size > 0 ? 'unknown' : known),
    attempts: () => [...lines],
  };
}

function executedOf({ outcome }: CallOutcomeRecord): Executed {
  if (outcome.kind === 'ok') return 'executed';
  if (outcome.kind === 'failed' || outcome.kind === 'cancelled') return outcome.failure.executed;
  return outcome.kind === 'input_required' ? 'unknown' : 'not_executed';
}

const ORDER: readonly Executed[] = ['not_executed', 'executed', 'unknown'];

function worse(one: Executed, other: Executed): Executed {
  return ORDER.indexOf(one) > ORDER.indexOf(other) ? one : other;
}

function lineOf({ name, args, outcome }: CallOutcomeRecord): string {
  const failure = 'failure' in outcome ? `: ${outcome.failure.message}` : '';
  const how = outcome.kind === 'ok' && outcome.isError ? 'error' : outcome.kind.replace('_', ' ');
  return printable(`${name} ${JSON.stringify(args)}: ${how}${failure}`, { maxLength: LINE });
}
