import type { RunEvent, RunResult } from './events.ts';
import type { Run } from './run.ts';

/**
 * A run that begins when something else has been settled, such as what hooks say of its input. Reads and stops like any
 * other; one that is aborted before it began still begins, and then ends as aborted.
 *
 * @param begin starts the run; rejects never
 */
export function deferredRun(begin: Promise<Run>): Run {
  const result: Promise<RunResult> = begin.then((run) => run.result);
  return {
    result,
    abort(reason) {
      void begin.then((run) => run.abort(reason));
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent> {
      yield* await begin;
    },
  };
}
