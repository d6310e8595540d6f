import type { Json } from '../contracts/index.ts';
import { isBridleError } from '../tools/index.ts';
import type { RunResult } from './events.ts';

/** What a journal's last line and whoever follows a run are told of its end. */
export function endDetail(result: RunResult): Json {
  const { usage, turns, calls, error } = result;
  return {
    text: result.text,
    turns,
    calls,
    usage: { ...usage },
    ...(error !== undefined && { error: { ...error } }),
    ...(result.end === 'limit' &&
      result.handoff !== undefined && {
        limit: { reason: result.handoff.reason, message: result.handoff.message },
      }),
  };
}

/** What a failure before the run's first event is told as. */
export function errorOf(error: unknown): NonNullable<RunResult['error']> {
  if (isBridleError(error)) {
    return { code: error.code, message: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
  }
  return { code: 'run_not_started', message: error instanceof Error ? error.message : String(error) };
}
