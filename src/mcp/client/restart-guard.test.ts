import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { restartGuard } from './restart-guard.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function pauseOf(guard: ReturnType<typeof restartGuard>): Promise<number> {
  const from = Date.now();
  const pause = guard.pause();
  await vi.runAllTimersAsync();
  await pause;
  return Date.now() - from;
}

test('the first failure costs no pause, further ones growing pauses', async () => {
  const guard = restartGuard('it');
  const pauses: number[] = [await pauseOf(guard)];
  for (let i = 0; i < 4; i += 1) {
    guard.failed();
    pauses.push(await pauseOf(guard));
  }
  expect(pauses).toEqual([0, 0, 100, 500, 2000]);
  expect(guard.stopped(null)).toBeNull();
});

test('five failures within a minute are the end, until somebody asks anew', () => {
  const guard = restartGuard('it');
  for (let i = 0; i < 5; i += 1) guard.failed();
  expect(guard.stopped(null)).toMatchObject({ code: 'mcp_crash_loop', executed: 'not_executed' });
  guard.reset();
  expect(guard.stopped(null)).toBeNull();
});

test('failures that lie apart are not a loop', () => {
  const guard = restartGuard('it');
  for (let i = 0; i < 20; i += 1) {
    guard.failed();
    vi.advanceTimersByTime(20_000);
  }
  expect(guard.stopped(null)).toBeNull();
});

test('time that passes by itself counts for the pause, and a pause can be interrupted', async () => {
  const guard = restartGuard('it');
  for (let i = 0; i < 4; i += 1) guard.failed();
  vi.advanceTimersByTime(5000);
  expect(await pauseOf(guard)).toBe(0);
  guard.failed();
  const pause = guard.pause();
  guard.interrupt();
  await pause;
  expect(vi.getTimerCount()).toBe(0);
});
