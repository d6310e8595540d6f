import { once } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort } from './index.ts';

test('calls back each one who waits, once, and none who left', () => {
  const controller = new AbortController();
  const called: string[] = [];
  onAbort(controller.signal, () => called.push('first'));
  onAbort(controller.signal, () => called.push('left'))();
  onAbort(controller.signal, () => called.push('second'));
  controller.abort();
  expect(called).toEqual(['first', 'second']);
});

test('any number of calls may share a signal without a warning of a leak', async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error) => warnings.push(warning);
  process.on('warning', listen);
  const shared = new AbortController();
  for (let n = 0; n < 100; n++) onAbort(shared.signal, () => {});
  // Warnings come in order: once our own is there, one about the signal would be too.
  process.emitWarning('the last one');
  while (warnings.at(-1)?.message !== 'the last one') await once(process, 'warning');
  process.off('warning', listen);
  expect(warnings.map((warning) => warning.message)).toEqual(['the last one']);
});
