/** Timers of Node overflow above this, and fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * A timer that can stand for "no limit".
 *
 * @param ms milliseconds; none, and anything above 24 days, is no limit
 * @returns what `clearTimeout` takes
 */
export function timeLimit(ms: number | undefined, expired: () => void): NodeJS.Timeout | undefined {
  return ms !== undefined && ms <= LONGEST_TIMER ? setTimeout(expired, ms) : undefined;
}
