import { type Abortable, onAbort } from '../tools/index.ts';
import type { Clock } from './clock.ts';

const GRACE_MS = 50;

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
  readonly signal: Abortable;
  readonly clock: Clock;
  readonly idleMs?: number;
  readonly hardMs?: number;
  /** How long work that was told to stop may still say how it ended. Default 50. */
  readonly graceMs?: number;
}

/**
 * Runs foreign work so that it can't keep the caller waiting: it is told to stop through its signal when a limit passes
 * or the caller cancels, and left behind if it doesn't. Never rejects. Work that answers at once, or before the promises
 * that are settling now have settled, costs neither a timer nor a listener.
 */
export function withinLimits<T>(
  work: (scope: WorkScope) => Promise<T> | T,
  limits: WorkLimits,
): Promise<Limited<T>> | Limited<T> {
  if (limits.signal.aborted) return { end: 'cancelled', started: false };
  return new LimitedWork<T>(limits).run(work);
}

type Stopped = Extract<Limited<never>, { end: 'limit' | 'cancelled' }>;

/** Work that was begun in this turn of the event loop, and isn't watched yet: most of it ends before it has to be. */
const fresh = new Set<{ watch(): void }>();
let isWatchDue = false;

function watchSoon(work: { watch(): void }): void {
  fresh.add(work);
  if (isWatchDue) return;
  isWatchDue = true;
  // Runs when the promises that are settling now have settled.
  process.nextTick(() => {
    isWatchDue = false;
    for (const each of fresh) each.watch();
  });
}

/** One piece of work under its limits. A class, since every call makes a few: methods cost nothing to make. */
class LimitedWork<T> implements WorkScope {
  readonly #limits: WorkLimits;
  #resolve: ((end: Limited<T>) => void) | undefined;
  #over = false;
  #stopped: Stopped | undefined;
  #stopReason: unknown;
  #pauses = 0;
  #isWatched = false;
  /** Made when somebody looks at the signal: most work never does, and making one is dear. */
  #controller: AbortController | undefined;
  #stopIdle: (() => void) | undefined;
  #stopHard: (() => void) | undefined;
  #stopGrace: (() => void) | undefined;
  #forget: (() => void) | undefined;

  constructor(limits: WorkLimits) {
    this.#limits = limits;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    // Whoever looks is told of an abort as soon as it comes.
    if (this.#resolve) this.watch();
    if (this.#stopped) this.#controller.abort(this.#stopReason);
    return this.#controller.signal;
  }

  run(work: (scope: WorkScope) => Promise<T> | T): Promise<Limited<T>> | Limited<T> {
    let begun: Promise<T> | T;
    try {
      begun = work(this);
      if (!isThenable(begun)) {
        this.#over = true;
        return { end: 'settled', value: begun };
      }
    } catch (error) {
      this.#over = true;
      return { end: 'threw', error };
    }
    const ended = new Promise<Limited<T>>((resolve) => {
      this.#resolve = resolve;
    });
    if (this.#controller || this.#limits.signal.aborted) this.watch();
    else watchSoon(this);
    // Foreign work may give a `then` of its own making: a promise calls it safely, and once.
    Promise.resolve(begun).then(
      (value) => this.#answered({ end: 'settled', value }, { value }),
      (error: unknown) => this.#answered({ end: 'threw', error }),
    );
    return ended;
  }

  /** Listens to the caller's signal, and starts the clocks. */
  watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    fresh.delete(this);
    if (this.#over) return;
    const { signal, clock, hardMs } = this.#limits;
    if (signal.aborted) this.#onCancel();
    else this.#forget = onAbort(signal, () => this.#onCancel());
    if (hardMs !== undefined && !this.#stopped) {
      this.#stopHard = clock.after(hardMs, () => this.#onLimit('hard', hardMs));
    }
    this.touch();
  }

  touch(): void {
    if (!this.#isWatched) return;
    const { clock, idleMs } = this.#limits;
    this.#stopIdle?.();
    this.#stopIdle = undefined;
    if (this.#over || this.#stopped || this.#pauses > 0 || idleMs === undefined) return;
    this.#stopIdle = clock.after(idleMs, () => this.#onLimit('idle', idleMs));
  }

  pause(): () => void {
    this.#pauses += 1;
    this.#stopIdle?.();
    let resumed = false;
    return () => {
      if (resumed) return;
      resumed = true;
      this.#pauses -= 1;
      this.touch();
    };
  }

  awaited(): boolean {
    return !this.#over && !this.#stopped && !this.#limits.signal.aborted;
  }

  #onCancel(): void {
    this.#stop({ end: 'cancelled', started: true }, this.#limits.signal.reason);
  }

  #onLimit(which: 'idle' | 'hard', ms: number): void {
    const reason = new DOMException(`The ${which} limit of ${ms} ms was reached.`, 'TimeoutError');
    this.#stop({ end: 'limit', which, ms }, reason);
  }

  #stop(cause: Stopped, reason: unknown): void {
    if (this.#over || this.#stopped) return;
    const { clock, graceMs = GRACE_MS } = this.#limits;
    this.#stopped = cause;
    this.#stopReason = reason;
    this.#stopIdle?.();
    this.#stopHard?.();
    this.#stopGrace = clock.after(graceMs, () => this.#finish(cause));
    this.#controller?.abort(reason);
  }

  #answered(end: Limited<T>, late?: { readonly value: T }): void {
    // Cancelled before anybody listened: the answer is a late one all the same.
    if (!this.#isWatched && this.#limits.signal.aborted) this.watch();
    const stopped = this.#stopped;
    this.#finish(stopped ? { ...stopped, ...(late && { late }) } : end);
  }

  #finish(end: Limited<T>): void {
    if (this.#over) return;
    this.#over = true;
    if (!this.#isWatched) fresh.delete(this);
    this.#stopIdle?.();
    this.#stopHard?.();
    this.#stopGrace?.();
    this.#forget?.();
    this.#resolve?.(end);
  }
}

/** Foreign work answers with whatever it likes: what has a `then` is waited for, as `await` would. */
function isThenable<T>(value: Promise<T> | T): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
