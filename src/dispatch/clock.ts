/** Time as the dispatcher sees it; another one is given in tests. Milliseconds throughout, `now` since the epoch. */
export interface Clock {
  now(): number;
  /** Calls back once, after `ms`; the returned function cancels. */
  after(ms: number, callback: () => void): () => void;
}

/** Longest delay that a Node timer takes; a longer one would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(ms, 0), LONGEST_TIMER));
    return () => clearTimeout(timer);
  },
};
