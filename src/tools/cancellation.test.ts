import { describe, expect, test } from 'vitest';
import { Cancellation, onAbort, SignalOnDemand, signalOf } from './index.ts';

describe('a cancellation', () => {
  test('gives a signal that is aborted with it, whether it was asked for before or after', () => {
    const asked = new Cancellation();
    const { signal } = asked;
    expect([asked.aborted, signal.aborted, asked.reason]).toEqual([false, false, undefined]);
    const late = new Cancellation();
    for (const each of [asked, late]) each.abort('enough');
    for (const each of [asked, late]) {
      expect(each).toMatchObject({ aborted: true, reason: 'enough', signal: { aborted: true, reason: 'enough' } });
    }
    expect(signalOf(asked)).toBe(signal);
    expect(signalOf(signal)).toBe(signal);
  });

  test('without a reason has that of a controller, and keeps its first', () => {
    const cancellation = new Cancellation();
    cancellation.abort();
    cancellation.abort('later');
    expect(cancellation.reason).toMatchObject({ name: 'AbortError' });
    expect(cancellation.signal.reason).toBe(cancellation.reason);
  });

  test('calls back each one who waits, once, and none who left', () => {
    const cancellation = new Cancellation();
    const called: string[] = [];
    onAbort(cancellation, () => called.push('first'));
    onAbort(cancellation, () => called.push('left'))();
    const leave = onAbort(cancellation, () => called.push('second'));
    cancellation.abort();
    cancellation.abort();
    leave();
    expect(called).toEqual(['first', 'second']);
  });
});

describe('a context whose signal is made on demand', () => {
  class Context extends SignalOnDemand {}

  test('tells of its cancellation without making the signal; a copy of it has the signal alone', () => {
    const cancellation = new Cancellation();
    const ctx = new Context(cancellation);
    expect(SignalOnDemand.abortableOf(ctx)).toBe(cancellation);
    const other = new AbortController().signal;
    expect(SignalOnDemand.abortableOf({ ...ctx })).toBe(cancellation.signal);
    expect(SignalOnDemand.abortableOf({ ...ctx, signal: other })).toBe(other);
    expect(SignalOnDemand.abortableOf(Object.create(ctx, { signal: { value: other } }))).toBe(other);
  });

  test('that was made of something else has that signal', () => {
    const { signal } = new AbortController();
    expect(SignalOnDemand.abortableOf(new Context({ signal }))).toBe(signal);
  });
});
