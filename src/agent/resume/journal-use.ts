/**
 * Rule of this file: a run that is under way isn't gone on with. What another process does to its journal its lock keeps
 * away; this keeps away the same process, which would make the calls that were under way twice.
 */
import { BridleError } from '../../tools/index.ts';
import type { RunJournal } from '../agent-options.ts';

/** How many runs write into a journal. */
const uses = new WeakMap<RunJournal, number>();

/** A run writes into this journal. @returns what is to be called once it has ended */
export function useJournal(journal: RunJournal): () => void {
  uses.set(journal, (uses.get(journal) ?? 0) + 1);
  return () => {
    uses.set(journal, (uses.get(journal) ?? 1) - 1);
  };
}

/**
 * The same for a run that goes on: the journal has to be all its own.
 *
 * @throws BridleError `trace_busy`
 */
export function claimJournal(journal: RunJournal): () => void {
  if ((uses.get(journal) ?? 0) > 0) {
    throw new BridleError('trace_busy', 'A run of this process is writing this journal.', {
      hint: 'Wait until it has ended, or abort it.',
    });
  }
  return useJournal(journal);
}
