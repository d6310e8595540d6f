/**
 * An `AbortController` whose signal is made when somebody wants to hand it on: a signal of Node 20 costs as much as a
 * third of a call, and most calls never need theirs.
 */
export class Cancellation {
  #controller: AbortController | undefined;
  #aborted = false;
  #reason: unknown;
  #callbacks: Set<() => void> | undefined;

  get aborted(): boolean {
    return this.#aborted;
  }

  /** As that of the signal. */
  get reason(): unknown {
    return this.#aborted ? this.signal.reason : undefined;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** @param reason default: an `AbortError`, as of a controller */
  abort(reason?: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (const each of this.#callbacks ?? []) each();
    this.#callbacks = undefined;
  }

  /**
   * Calls back once when it is aborted.
   *
   * @returns the unsubscribe function
   */
  onAbort(callback: () => void): () => void {
    this.#callbacks ??= new Set();
    this.#callbacks.add(callback);
    return () => {
      this.#callbacks?.delete(callback);
    };
  }
}

/** Tells whether work is still wanted. */
export type Abortable = AbortSignal | Cancellation;

/** The same as a signal, for whoever wants one. */
export function signalOf(abortable: Abortable): AbortSignal {
  return abortable instanceof Cancellation ? abortable.signal : abortable;
}
