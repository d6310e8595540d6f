const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when the signal fires. However many calls share a signal, it gets one listener from here: Node warns
 * of a leak from eleven on.
 *
 * @param signal one that has not fired yet
 * @returns the unsubscribe function
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const waiting = listeners.get(signal) ?? new Set();
  if (!listeners.has(signal)) {
    listeners.set(signal, waiting);
    const fire = () => {
      for (const each of [...waiting]) each();
      waiting.clear();
    };
    signal.addEventListener('abort', fire, { once: true });
  }
  waiting.add(callback);
  return () => {
    waiting.delete(callback);
  };
}
