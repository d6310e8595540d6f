import { McpError } from './errors.ts';

const WINDOW_MS = 60_000;
const MAX_FAILURES = 5;
const PAUSES_MS = [0, 100, 500, 2000, 4000] as const;

export interface RestartGuard {
  /** A start failed, or a running server ended by itself. */
  failed(): void;
  /** Waits as long as the failures so far call for. */
  pause(): Promise<void>;
  /** Ends a running pause. */
  interrupt(): void;
  /** Why no further start is tried; null while it is. */
  stopped(last: McpError | null): McpError | null;
  /** Somebody asks for another try. */
  reset(): void;
}

/**
 * Keeps a server that fails again and again from being tried for ever: growing pauses, then a stop.
 *
 * @param stop `for_good`: until `reset`, for a process that we start; `for_now`: while the failures lie within a minute,
 *   for a server that somebody else mends
 */
export function restartGuard(name: string, stop: 'for_good' | 'for_now' = 'for_good'): RestartGuard {
  let failures: number[] = [];
  let stoppedForGood = false;
  const isStopped = () => {
    if (stop === 'for_good') return stoppedForGood;
    const now = Date.now();
    return failures.filter((at) => now - at < WINDOW_MS).length >= MAX_FAILURES;
  };
  let wake: (() => void) | null = null;
  return {
    failed() {
      const now = Date.now();
      failures = [...failures.filter((at) => now - at < WINDOW_MS), now];
      if (failures.length >= MAX_FAILURES) stoppedForGood = true;
    },
    async pause() {
      const last = failures.at(-1);
      if (last === undefined) return;
      const pause = PAUSES_MS[Math.min(failures.length, PAUSES_MS.length) - 1] ?? 0;
      const left = last + pause - Date.now();
      if (left <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      wake = null;
    },
    interrupt() {
      wake?.();
    },
    stopped(last) {
      if (!isStopped()) return null;
      const why = last ? ` Last: ${last.message}` : '';
      return new McpError(
        'mcp_crash_loop',
        `${name} failed ${MAX_FAILURES} times within ${WINDOW_MS / 1000} s and is ${stop === 'for_good' ? 'not started again' : 'left alone for a while'}.${why}`,
        { executed: 'not_executed', hint: 'Mend what the last failure says, then connect again.' },
      );
    },
    reset() {
      failures = [];
      stoppedForGood = false;
    },
  };
}
