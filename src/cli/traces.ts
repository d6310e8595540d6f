import { join } from 'node:path';
import { listTraces, type TraceSummary } from '../dispatch/index.ts';
import { stateDir } from '../store/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo } from './command.ts';

/** Where the traces of runs are kept: `traces` in the state folder. */
export function tracesDir(io: Pick<CommandIo, 'env'>): string {
  return join(stateDir(io.env), 'traces');
}

/**
 * The run that a person means: an id, or the start of one; without it the newest.
 *
 * @throws BridleError `trace_not_found`; `usage` when several begin so
 */
export async function findTrace(id: string | undefined, io: CommandIo): Promise<TraceSummary> {
  const traces = await listTraces(tracesDir(io));
  const matching = id === undefined ? traces.slice(0, 1) : traces.filter(({ run }) => run.startsWith(id));
  const [first, another] = matching;
  const found = matching.find(({ run }) => run === id) ?? (another ? undefined : first);
  if (found) return found;
  const hint = "'bridle trace list' shows what there is.";
  if (!first) {
    const what = id === undefined ? 'There are no runs yet.' : `There is no run '${printable(id)}'.`;
    throw new BridleError('trace_not_found', what, { hint });
  }
  throw new BridleError('usage', `'${printable(id ?? '')}' is the start of ${matching.length} runs; give more of it.`, {
    hint,
  });
}
