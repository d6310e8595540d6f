import { type Abortable, Cancellation } from './cancellation.ts';

/**
 * The callbacks lie on the signal itself. A WeakMap would do the same, but keeps each signal and all that hangs on it
 * until the next full collection, and every call has a signal of its own.
 */
const CALLBACKS = Symbol('bridle.onAbort');

interface Watched extends AbortSignal {
  [CALLBACKS]?: Set<() => void>;
}

/**
 * Calls back once when the signal fires. However many calls share a signal, it gets one listener from here: Node warns
 * of a leak from eleven on.
 *
 * @param signal one that has not fired yet
 * @returns the unsubscribe function
 */
export function onAbort(signal: Abortable, callback: () => void): () => void {
  if (signal instanceof Cancellation) return signal.onAbort(callback);
  const waiting = callbacksOf(signal);
  waiting.add(callback);
  return () => {
    waiting.delete(callback);
  };
}

function callbacksOf(signal: Watched): Set<() => void> {
  const known = signal[CALLBACKS];
  if (known) return known;
  const waiting = new Set<() => void>();
  signal[CALLBACKS] = waiting;
  const fire = () => {
    for (const each of [...waiting]) each();
    waiting.clear();
  };
  signal.addEventListener('abort', fire, { once: true });
  return waiting;
}
