import { expect, test, vi } from 'vitest';
import { onAbort } from './on-abort.ts';

test('many callbacks on one signal cost it one listener, and each is called once unless it was taken back', () => {
  const controller = new AbortController();
  const add = vi.spyOn(controller.signal, 'addEventListener');
  const calls: number[] = [];
  const stops = Array.from({ length: 30 }, (_, i) => onAbort(controller.signal, () => calls.push(i)));
  stops[3]?.();
  controller.abort();
  controller.abort();
  expect(add).toHaveBeenCalledTimes(1);
  expect(calls).toHaveLength(29);
  expect(calls).not.toContain(3);
});
