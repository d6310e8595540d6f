import type { Json, RunBegun } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import type { RunJournal } from '../agent-options.ts';
import type { LoopConfig } from '../state.ts';
import { journalConfig } from './journal-config.ts';

/** What the last run of each journal ended with. */
const ends = new WeakMap<RunJournal, { readonly count: number; readonly digest: string }>();

/** Remembers what was said when a run ended: a run that goes on from just that needn't write it down again. */
export function rememberEnd(journal: RunJournal, messages: readonly Json[]): void {
  ends.set(journal, { count: messages.length, digest: digestOf(messages) });
}

/** The first event of a run. */
export function runBegun(
  journal: RunJournal,
  {
    conversation,
    model,
    config,
    before,
  }: {
    readonly conversation: string;
    readonly model: string;
    readonly config: LoopConfig;
    readonly before: readonly Json[];
  },
): RunBegun {
  const end = ends.get(journal);
  const isKnown = end !== undefined && end.count === before.length && end.digest === digestOf(before);
  return {
    type: 'begin',
    conversation,
    model,
    config: journalConfig(config),
    ...(!isKnown && { before: [...before] }),
  };
}

function digestOf(messages: readonly Json[]): string {
  return sha256(canonicalJson([...messages]));
}
