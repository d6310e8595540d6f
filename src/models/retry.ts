import { BridleError } from '../tools/index.ts';

/** How long and how often a model is waited for. All times in ms. */
export interface RetryOptions {
  /** Attempts after the first; default 6. */
  readonly maxRetries?: number;
  /** All waits of one reply together; default 5 minutes. A server that asks for more than is left ends the waiting. */
  readonly maxWaitMs?: number;
  /** The first wait where the server names none; doubles each time, up to 30 s; default 500. */
  readonly baseMs?: number;
}

interface WaitContext {
  readonly signal: AbortSignal;
  onWait?(wait: { readonly ms: number; readonly reason: string }): void;
}

/** Thrown by an attempt that may work if it is made again. Never leaves this folder. */
export class Transient extends Error {
  override readonly name = 'Transient';
  /** What the person is told while waiting. */
  readonly reason: string;
  /** The server's own word on when to come back. */
  readonly retryAfterMs: number | undefined;
  /** Lowers the number of further attempts, where waiting seldom helps. */
  readonly maxRetries: number;
  /** What is thrown when no attempt is left. */
  readonly final: (attempts: number) => BridleError;

  constructor(
    reason: string,
    final: (attempts: number) => BridleError,
    options: { readonly retryAfterMs?: number | undefined; readonly maxRetries?: number } = {},
  ) {
    super(reason);
    this.reason = reason;
    this.final = final;
    this.retryAfterMs = options.retryAfterMs;
    this.maxRetries = options.maxRetries ?? Number.POSITIVE_INFINITY;
  }
}

export function aborted(reason: unknown): BridleError {
  return new BridleError('model_aborted', 'The request to the model was stopped before it was answered.', {
    cause: reason,
  });
}

const DEFAULTS = { maxRetries: 6, maxWaitMs: 300_000, baseMs: 500 };
const LONGEST_BACKOFF_MS = 30_000;

/**
 * Makes attempts until one succeeds, fails for good, or the bounds are reached. Each wait is reported before it starts
 * and ends at once when the signal aborts.
 *
 * @throws whatever an attempt throws that isn't `Transient`; the last attempt's `final` error; `model_aborted`
 */
export async function withRetries<T>(
  attempt: (number: number) => Promise<T>,
  context: WaitContext,
  options: RetryOptions = {},
): Promise<T> {
  const { maxRetries, maxWaitMs, baseMs } = { ...DEFAULTS, ...options };
  let waited = 0;
  for (let number = 1; ; number += 1) {
    if (context.signal.aborted) throw aborted(context.signal.reason);
    try {
      return await attempt(number);
    } catch (error) {
      if (context.signal.aborted) throw aborted(context.signal.reason);
      if (!(error instanceof Transient)) throw error;
      const ms = error.retryAfterMs ?? backoff(number, baseMs);
      if (number > Math.min(maxRetries, error.maxRetries) || waited + ms > maxWaitMs) throw error.final(number);
      context.onWait?.({ ms, reason: error.reason });
      await sleep(ms, context.signal);
      waited += ms;
    }
  }
}

/**
 * Doubling with a quarter of jitter, so that many waiting clients don't come back together.
 *
 * @param attempt the attempt that failed, from 1
 * @param random from 0 to 1
 */
export function backoff(attempt: number, baseMs: number, random = Math.random()): number {
  const whole = Math.min(LONGEST_BACKOFF_MS, baseMs * 2 ** (attempt - 1));
  return Math.round(whole * (0.75 + random * 0.25));
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(aborted(signal.reason));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * Reads `retry-after-ms`, and `retry-after` in seconds or as an HTTP date (RFC 9110, section 10.2.3).
 *
 * @returns ms from now, never negative, or `undefined` where neither header can be read
 */
export function retryAfter(headers: Headers | undefined, now = Date.now()): number | undefined {
  const exact = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const value = headers?.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number.parseFloat(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
