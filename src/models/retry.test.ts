import { expect, test } from 'vitest';
import { BridleError, isBridleError } from '../tools/index.ts';
import { backoff, retryAfter, Transient, withRetries } from './retry.ts';

const never = new AbortController().signal;
const final = (attempts: number) => new BridleError('gave_up', `after ${attempts}`);

test('waits double, carry a quarter of jitter, and stay at half a minute', () => {
  expect([1, 2, 3, 4].map((attempt) => backoff(attempt, 500, 1))).toEqual([500, 1000, 2000, 4000]);
  expect(backoff(2, 500, 0)).toBe(750);
  expect(backoff(40, 500, 1)).toBe(30_000);
});

test('the number of attempts is bounded, and each wait is told before it starts', async () => {
  const reasons: string[] = [];
  const run = withRetries(
    async (attempt) => {
      throw new Transient(`busy ${attempt}`, final);
    },
    { signal: never, onWait: ({ reason }) => void reasons.push(reason) },
    { baseMs: 0, maxRetries: 2 },
  );
  await expect(run).rejects.toThrow('after 3');
  expect(reasons).toEqual(['busy 1', 'busy 2']);
});

test('all waits of one reply together are bounded', async () => {
  let attempts = 0;
  const run = withRetries(
    async () => {
      attempts += 1;
      throw new Transient('busy', final, { retryAfterMs: 4 });
    },
    { signal: never },
    { maxWaitMs: 10, maxRetries: 1000 },
  );
  await expect(run).rejects.toThrow('after 3');
  expect(attempts).toBe(3);
});

test('an error that is not passing is thrown at once, as it is', async () => {
  const mistake = new TypeError('mistake');
  let attempts = 0;
  const run = withRetries(
    async () => {
      attempts += 1;
      throw mistake;
    },
    { signal: never },
  );
  await expect(run).rejects.toBe(mistake);
  expect(attempts).toBe(1);
});

test('nothing is attempted once the signal has aborted', async () => {
  let attempts = 0;
  const stop = new AbortController();
  stop.abort('enough');
  const error: unknown = await withRetries(
    async () => {
      attempts += 1;
    },
    { signal: stop.signal },
  ).catch((reason: unknown) => reason);
  expect(isBridleError(error) && [error.code, error.cause]).toEqual(['model_aborted', 'enough']);
  expect(attempts).toBe(0);
});

test.each([
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
  [{ 'retry-after': '2' }, 2000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:03 GMT' }, 2000],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after-ms': '-5' }, 0],
  [{}, undefined],
])('headers %j mean %s ms', (headers, expected) => {
  expect(retryAfter(new Headers(headers as Record<string, string>), 1000)).toBe(expected);
});
