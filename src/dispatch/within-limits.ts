import type { Clock } from './clock.ts';

/** How a piece of foreign work ended. `late` is what it still said in the short grace after it was told to stop. */
export type Limited<T> =
  | { readonly end: 'settled'; readonly value: T }
  | { readonly end: 'threw'; readonly error: unknown }
  | {
      readonly end: 'limit';
      readonly which: 'idle' | 'hard';
      readonly ms: number;
      readonly late?: { readonly value: T };
    }
  | { readonly end: 'cancelled'; readonly started: boolean; readonly late?: { readonly value: T } };

export interface WorkScope {
  /** Aborts when the caller cancels or a limit is reached. */
  readonly signal: AbortSignal;
  /** Starts the idle limit anew. */
  touch(): void;
  /** Stops the idle limit while somebody else is waited for; the returned function starts it again. */
  pause(): () => void;
  /** False as soon as nobody waits for this work any more. */
  awaited(): boolean;
}

export interface WorkLimits {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly idleMs?: number;
  readonly hardMs?: number;
  /** How long work that was told to stop may still say how it ended. */
  readonly graceMs?: number;
}

/**
 * Runs foreign work so that it can't keep the caller waiting: it is told to stop through its signal when a limit passes
 * or the caller cancels, and left behind if it doesn't. Never rejects.
 */
export function withinLimits<T>(work: (scope: WorkScope) => Promise<T> | T, limits: WorkLimits): Promise<Limited<T>> {
  if (limits.signal.aborted) return Promise.resolve({ end: 'cancelled', started: false });
  return new Promise((resolve) => {
    const { clock, idleMs, hardMs, graceMs = 50 } = limits;
    const controller = new AbortController();
    let over = false;
    let stopped: Extract<Limited<T>, { end: 'limit' | 'cancelled' }> | undefined;
    let pauses = 0;
    let stopIdle = () => {};
    let stopHard = () => {};
    let stopGrace = () => {};

    const finish = (end: Limited<T>) => {
      if (over) return;
      over = true;
      for (const stop of [stopIdle, stopHard, stopGrace]) stop();
      limits.signal.removeEventListener('abort', onCancel);
      resolve(end);
    };
    const stop = (cause: NonNullable<typeof stopped>, reason: unknown) => {
      if (over || stopped) return;
      stopped = cause;
      stopIdle();
      stopHard();
      stopGrace = clock.after(graceMs, () => finish(cause));
      controller.abort(reason);
    };
    const onCancel = () => stop({ end: 'cancelled', started: true }, limits.signal.reason);
    const onLimit = (which: 'idle' | 'hard', ms: number) =>
      stop(
        { end: 'limit', which, ms },
        new DOMException(`The ${which} limit of ${ms} ms was reached.`, 'TimeoutError'),
      );
    const startIdle = () => {
      stopIdle();
      if (over || stopped || pauses > 0 || idleMs === undefined) return;
      stopIdle = clock.after(idleMs, () => onLimit('idle', idleMs));
    };

    const scope: WorkScope = {
      signal: controller.signal,
      touch: startIdle,
      pause() {
        pauses += 1;
        stopIdle();
        let resumed = false;
        return () => {
          if (resumed) return;
          resumed = true;
          pauses -= 1;
          startIdle();
        };
      },
      awaited: () => !over && !stopped,
    };

    limits.signal.addEventListener('abort', onCancel, { once: true });
    if (hardMs !== undefined) stopHard = clock.after(hardMs, () => onLimit('hard', hardMs));
    startIdle();
    attempt(work, scope).then(
      (value) => finish(stopped ? { ...stopped, late: { value } } : { end: 'settled', value }),
      (error: unknown) => finish(stopped ?? { end: 'threw', error }),
    );
  });
}

/** A synchronous throw becomes a rejection. */
async function attempt<T>(work: (scope: WorkScope) => Promise<T> | T, scope: WorkScope): Promise<T> {
  return work(scope);
}
