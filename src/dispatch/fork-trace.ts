import { join } from 'node:path';
import type { TraceEvent } from '../contracts/index.ts';
import { BridleError, makeFolder } from '../tools/index.ts';
import { openLineWriter } from './line-writer.ts';
import { readJournal } from './read-trace.ts';
import { traceLine } from './trace-lines.ts';

export interface ForkOptions {
  /** The trace's file. */
  readonly file: string;
  /** How many of its events are kept, the header being the first; one of `forkPoints`. */
  readonly at: number;
  /** Where the new trace goes, and its run's id: `[A-Za-z0-9._-]`, unique in the folder. */
  readonly dir: string;
  readonly run: string;
}

/**
 * Where a run can be forked: the numbers of events after which the model was about to be asked. In between, calls are
 * under way, which would be made a second time.
 */
export function forkPoints(events: readonly TraceEvent[]): readonly number[] {
  const points: number[] = [];
  let hasInput = false;
  for (const [at, { type }] of events.entries()) {
    if (type === 'begin') hasInput = false;
    if (type === 'input') hasInput = true;
    if (type === 'model' && hasInput) points.push(at);
  }
  return points;
}

/**
 * Makes a trace of a run's beginning, for another run to go on from: open it with `openTrace` and resume it. The run that
 * is forked stays as it is.
 *
 * @returns the new trace's file
 * @throws BridleError `fork_point_invalid` with the numbers that can be given; `trace_newer`, `trace_not_found`,
 *   `trace_not_readable`, `trace_not_writable`
 */
export async function forkTrace({ file, at, dir, run }: ForkOptions): Promise<string> {
  const events: TraceEvent[] = [];
  for await (const event of readJournal(file)) events.push(event);
  const points = forkPoints(events);
  const [head] = events;
  if (!points.includes(at) || head?.type !== 'run') {
    throw new BridleError('fork_point_invalid', `The run can't be forked after event ${at}.`, {
      hint:
        points.length === 0
          ? 'Its model has said nothing yet.'
          : `Give one of ${points.join(', ')}: after these the model was asked.`,
    });
  }
  const path = join(dir, `${run}.jsonl`);
  const kept = [{ ...head, at: Date.now(), run, forked: { run: head.run, event: at } }, ...events.slice(1, at)];
  try {
    await makeFolder(dir, 0o700);
    const { writer } = await openLineWriter(path);
    try {
      await Promise.all(kept.map((event) => writer.append(traceLine(event), false)));
    } finally {
      await writer.close();
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BridleError('trace_not_writable', `The trace ${path} could not be written: ${why}.`, { cause });
  }
  return path;
}
