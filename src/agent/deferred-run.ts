import type { RunEvent, RunResult } from './events.ts';
import type { Run } from './run.ts';

/**
 * A run that begins when something else has been settled, such as what hooks say of its input. Reads and stops like any
 * other; one that is aborted before it began still begins, and then ends as aborted.
 *
 * @param begin starts the run; rejects never. Its signal says that nothing has to be settled any more
 * @param given another signal that says so
 */
export function deferredRun(begin: (signal: AbortSignal) => Promise<Run>, given?: AbortSignal): Run {
  const stop = new AbortController();
  const begun = begin(given === undefined ? stop.signal : AbortSignal.any([given, stop.signal]));
  const result: Promise<RunResult> = begun.then((run) => run.result);
  return {
    result,
    abort(reason) {
      stop.abort(reason);
      void begun.then((run) => run.abort(reason));
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent> {
      yield* await begun;
    },
  };
}
