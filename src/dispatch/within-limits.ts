import { onAbort } from '../tools/index.ts';
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
    // Made when somebody looks at the signal: most work settles at once and never does, and making one is dear.
    let controller: AbortController | undefined;
    let over = false;
    let stopped: Extract<Limited<T>, { end: 'limit' | 'cancelled' }> | undefined;
    let stopReason: unknown;
    let pauses = 0;
    let stopIdle = () => {};
    let stopHard = () => {};
    let stopGrace = () => {};
    let forget = () => {};

    const finish = (end: Limited<T>) => {
      if (over) return;
      over = true;
      for (const stop of [stopIdle, stopHard, stopGrace]) stop();
      forget();
      resolve(end);
    };
    const stop = (cause: NonNullable<typeof stopped>, reason: unknown) => {
      if (over || stopped) return;
      stopped = cause;
      stopReason = reason;
      stopIdle();
      stopHard();
      stopGrace = clock.after(graceMs, () => finish(cause));
      controller?.abort(reason);
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
      get signal() {
        controller ??= new AbortController();
        if (stopped) controller.abort(stopReason);
        return controller.signal;
      },
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

    let begun: Promise<T> | T;
    try {
      begun = work(scope);
      if (!isThenable(begun)) {
        finish({ end: 'settled', value: begun });
        return;
      }
    } catch (error) {
      finish({ end: 'threw', error });
      return;
    }
    if (limits.signal.aborted) onCancel();
    else forget = onAbort(limits.signal, onCancel);
    if (hardMs !== undefined && !stopped) stopHard = clock.after(hardMs, () => onLimit('hard', hardMs));
    startIdle();
    // Foreign work may give a `then` of its own making: a promise calls it safely, and once.
    Promise.resolve(begun).then(
      (value) => finish(stopped ? { ...stopped, late: { value } } : { end: 'settled', value }),
      (error: unknown) => finish(stopped ?? { end: 'threw', error }),
    );
  });
}

/** Foreign work answers with whatever it likes: what has a `then` is waited for, as `await` would. */
function isThenable<T>(value: Promise<T> | T): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
