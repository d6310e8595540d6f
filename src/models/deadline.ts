/** A signal that follows another one and also aborts by itself after a time. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** True when the time ran out, as opposed to the followed signal. */
  expired(): boolean;
  /** Lets go of the timer and of the followed signal. Always call it. */
  release(): void;
}

/** @param ms the longest that one attempt may take, streaming included */
export function deadline(followed: AbortSignal, ms: number): Deadline {
  const controller = new AbortController();
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    controller.abort(new Error(`no complete reply within ${Math.round(ms / 1000)} s`));
  }, ms);
  const follow = () => controller.abort(followed.reason);
  if (followed.aborted) follow();
  else followed.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    expired: () => expired,
    release() {
      clearTimeout(timer);
      followed.removeEventListener('abort', follow);
    },
  };
}
