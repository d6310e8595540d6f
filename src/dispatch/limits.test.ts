import { describe, expect, test } from 'vitest';
import type { CallContext, Effect, Failure, Outcome, SourceResult } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import { bench, definition, fakeSource, type Handler, manualClock, never, ok } from './fixtures.ts';

function failureOf(outcome: Outcome): Failure {
  if (!('failure' in outcome)) throw new Error(`not a failure: ${JSON.stringify(outcome)}`);
  return outcome.failure;
}

function failing(more: Partial<Failure> = {}): SourceResult {
  const failure: Failure = {
    category: 'transient',
    retryable: true,
    message: 'Busy.',
    executed: 'not_executed',
    attempts: [],
    ...more,
  };
  return { kind: 'failure', failure };
}

async function run(
  handler: Handler,
  more: {
    effect?: Effect;
    ctx?: Partial<CallContext>;
    profile?: 'agent' | 'relay';
    limits?: { idleMs?: number; hardMs?: number; retries?: number };
    configured?: { idleMs?: number; hardMs?: number };
  } = {},
) {
  const clock = manualClock();
  const source = fakeSource({ work: handler }, more.configured ? { limits: more.configured } : {});
  const tool = definition('work', { effect: more.effect ?? 'write' });
  const { call, recorder } = bench([tool], source, { clock, limits: more.limits ?? {} });
  const started = clock.now();
  const ctx = { idleMs: 1_000, hardMs: 5_000, ...more.ctx };
  const outcome = await clock.until(call('work', {}, { ctx, profile: more.profile ?? 'agent' }));
  return { outcome, source, recorder, ms: clock.now() - started, clock };
}

describe('time limits', () => {
  test('a source that is silent and takes no notice of being stopped does not keep the caller waiting', async () => {
    const { outcome, source } = await run(() => never());
    const failure = failureOf(outcome);
    expect(outcome.kind).toBe('failed');
    expect(failure).toMatchObject({ category: 'transient', executed: 'unknown', retryable: false });
    expect(failure.message).toContain('silent for 1000 ms');
    expect(source.calls[0]?.ctx.signal.aborted).toBe(true);
  });

  test.each([
    ['write', false],
    ['idempotent', true],
    ['read', true],
  ] as const)('a model may make a %s call that was stopped once more: %s', async (effect, retryable) => {
    expect(failureOf((await run(() => never(), { effect })).outcome).retryable).toBe(retryable);
    // The source's own word that it is worth another try makes no difference to what may have run already.
    const gone = () => failing({ executed: 'unknown' });
    expect(failureOf((await run(gone, { effect })).outcome).retryable).toBe(retryable);
  });

  test('progress keeps a call alive past its idle limit, and nothing keeps it past its hard limit', async () => {
    const clock = manualClock();
    const handler: Handler = (_args, ctx) => {
      const beat = () => {
        ctx.onEvent?.({ kind: 'progress', raw: rawFrom({}) });
        clock.after(900, beat);
      };
      beat();
      return never();
    };
    const { call } = bench([definition('work')], fakeSource({ work: handler }), { clock });
    const pending = call('work', {}, { ctx: { idleMs: 1_000, hardMs: 5_000 } });
    let over = false;
    void pending.then(() => {
      over = true;
    });
    await clock.advance(4_900);
    expect(over).toBe(false);
    const failure = failureOf(await clock.until(pending));
    expect(failure.message).toContain('longer than 5000 ms');
    expect(failure.message).toContain('hard limit');
  });

  test('log messages are passed on and are no sign of progress', async () => {
    const events: string[] = [];
    const clock = manualClock();
    const handler: Handler = (_args, ctx) => {
      const beat = () => {
        ctx.onEvent?.({ kind: 'log', raw: rawFrom({}) });
        clock.after(400, beat);
      };
      beat();
      return never();
    };
    const { call } = bench([definition('work')], fakeSource({ work: handler }), { clock });
    const onEvent: NonNullable<CallContext['onEvent']> = ({ kind }) => void events.push(kind);
    const failure = failureOf(await clock.until(call('work', {}, { ctx: { idleMs: 1_000, hardMs: 5_000, onEvent } })));
    expect(failure.message).toContain('idle limit');
    expect(events.length).toBeGreaterThan(1);
    expect(new Set(events)).toEqual(new Set(['log']));
  });

  test('while the host answers a question of the server, the server is not the one that is silent', async () => {
    const clock = manualClock();
    const input = () => new Promise<never>((resolve) => void clock.after(3_000, () => resolve('Ada' as never)));
    const handler: Handler = async (_args, ctx) => {
      clock.after(500, () => ctx.onEvent?.({ kind: 'progress', raw: rawFrom({}) }));
      return ok(String(await ctx.input?.(rawFrom({}))));
    };
    const { call } = bench([definition('work')], fakeSource({ work: handler }), { clock });
    const outcome = await clock.until(call('work', {}, { ctx: { idleMs: 1_000, hardMs: 5_000, input } }));
    expect(outcome).toMatchObject({ kind: 'ok', content: 'Ada' });
  });

  test('a source that says in time that nothing was done is believed', async () => {
    const handler: Handler = (_args, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(failing({ message: 'Never sent.' }))));
    const failure = failureOf((await run(handler, { limits: { retries: 0 } })).outcome);
    expect(failure.executed).toBe('not_executed');
    expect(failure.message).toContain('idle limit');
  });

  test('a result that comes just as the limit passes is kept', async () => {
    const handler: Handler = (_args, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(ok('just in time'))));
    expect((await run(handler)).outcome).toMatchObject({ kind: 'ok', content: 'just in time' });
  });

  test("the dispatcher's own limits cap what the context asks for", async () => {
    const { outcome } = await run(() => never(), { limits: { idleMs: 200 } });
    expect(failureOf(outcome).message).toContain('200 ms');
  });

  test.each([0, Number.NaN, Number.POSITIVE_INFINITY, -1])(
    'a limit of %d is no limit, so the default holds',
    async (ms) => {
      const { outcome, source } = await run(() => never(), { ctx: { idleMs: ms, hardMs: ms } });
      expect(outcome.kind).toBe('failed');
      expect(source.calls[0]?.ctx).toMatchObject({ idleMs: 120_000, hardMs: 600_000 });
    },
  );

  test('a listener that throws ends nothing', async () => {
    const handler: Handler = (_args, ctx) => {
      ctx.onEvent?.({ kind: 'progress', raw: rawFrom({}) });
      return ok('done');
    };
    const onEvent = () => {
      throw new Error('no listener');
    };
    expect((await run(handler, { ctx: { onEvent } })).outcome.kind).toBe('ok');
  });
});

describe('cancelling', () => {
  test('a call that is cancelled before it starts never reaches the source', async () => {
    const { outcome, source, recorder } = await run(() => ok('done'), { ctx: { signal: AbortSignal.abort() } });
    expect(outcome).toMatchObject({ kind: 'cancelled', failure: { executed: 'not_executed' } });
    expect(source.calls).toEqual([]);
    expect(recorder.outcomes).toMatchObject([{ args: {}, outcome: { kind: 'cancelled' } }]);
  });

  const cancelledDuring = (answer?: SourceResult) => {
    const cancel = new AbortController();
    const handler: Handler = (_args, { signal }) => {
      queueMicrotask(() => cancel.abort('stopped by the user'));
      if (!answer) return never();
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(answer)));
    };
    return run(handler, { ctx: { signal: cancel.signal } });
  };

  test('a call that is cancelled while it runs has an unknown effect', async () => {
    const { outcome, source } = await cancelledDuring();
    expect(outcome).toMatchObject({ kind: 'cancelled', failure: { executed: 'unknown' } });
    expect(failureOf(outcome).message).toContain('stopped by the user');
    expect(source.calls[0]?.ctx.signal.aborted).toBe(true);
  });

  test('a source that still says what happened is believed', async () => {
    const done = await cancelledDuring(ok('was done'));
    expect(done.outcome).toMatchObject({ kind: 'cancelled', failure: { executed: 'executed' } });
    expect(failureOf(done.outcome).partial?.text).toContain('was done');
    const not = await cancelledDuring(failing());
    expect(not.outcome).toMatchObject({ kind: 'cancelled', failure: { executed: 'not_executed' } });
  });

  test('events that come after the end are not passed on', async () => {
    let ctx: CallContext | undefined;
    const handler: Handler = (_args, given) => {
      ctx = given;
      return ok('done');
    };
    const events: unknown[] = [];
    await run(handler, { ctx: { onEvent: (event) => void events.push(event) } });
    ctx?.onEvent?.({ kind: 'progress', raw: rawFrom({}) });
    expect(events).toEqual([]);
  });
});

describe('retries', () => {
  const counting = (answers: (nth: number) => SourceResult) => {
    let calls = 0;
    return () => answers(++calls);
  };

  test('what is known not to have run is tried again, a bounded number of times', async () => {
    const { outcome, source, recorder } = await run(counting((n) => failing({ message: `Busy ${n}.` })));
    expect(source.calls).toHaveLength(3);
    expect(failureOf(outcome).message).toBe('Busy 3.');
    expect(failureOf(outcome).attempts).toEqual(['Attempt 1: Busy 1.', 'Attempt 2: Busy 2.', 'Attempt 3: Busy 3.']);
    expect(recorder.outcomes[0]?.attempts).toBe(3);
    expect(recorder.intents).toHaveLength(1);
  });

  test('a try that goes well ends the tries', async () => {
    const { outcome, source } = await run(counting((n) => (n === 2 ? ok('done') : failing())));
    expect(outcome).toMatchObject({ kind: 'ok', content: 'done' });
    expect(source.calls).toHaveLength(2);
  });

  test.each([
    ['write', 'unknown', 1],
    ['write', 'executed', 1],
    ['write', 'not_executed', 3],
    ['read', 'unknown', 3],
    ['idempotent', 'executed', 3],
  ] as const)('a %s call whose effect is %s is made %i times', async (effect, executed, times) => {
    const { source } = await run(() => failing({ executed }), { effect });
    expect(source.calls).toHaveLength(times);
  });

  test('a failure that is not worth a retry is not retried', async () => {
    expect((await run(() => failing({ retryable: false }), { effect: 'read' })).source.calls).toHaveLength(1);
  });

  test('a result that is an error is an answer, not a reason to try again', async () => {
    const { source } = await run(() => ({ ...ok('no'), isError: true }) as SourceResult, { effect: 'read' });
    expect(source.calls).toHaveLength(1);
  });

  test.each([
    ['read', { isRetryable: true }, 3],
    ['idempotent', { retriable: true, errorCategory: 'transient' }, 3],
    ['read', { isRetryable: true, errorCategory: 'validation' }, 1],
    ['read', { isRetryable: false, errorCategory: 'transient' }, 1],
    ['write', { isRetryable: true, outcome: 'not_executed' }, 1],
  ] as const)('a %s call whose error result says %j is made %i times', async (effect, said, times) => {
    const result = { ...ok(JSON.stringify(said)), isError: true } as SourceResult;
    const { source, outcome, recorder } = await run(() => result, { effect });
    expect(source.calls).toHaveLength(times);
    expect(recorder.outcomes[0]?.attempts).toBe(times);
    // It goes on as it was received, whatever it says.
    expect(outcome).toMatchObject({ kind: 'ok', isError: true, content: JSON.stringify(said) });
  });

  test('a failure that a correction may mend is not tried again as it was', async () => {
    const { source } = await run(() => failing({ category: 'validation' }), { effect: 'read' });
    expect(source.calls).toHaveLength(1);
  });

  test('the relay never retries', async () => {
    expect((await run(() => failing(), { profile: 'relay', effect: 'read' })).source.calls).toHaveLength(1);
  });

  test('the hard limit covers all tries together', async () => {
    const { source, outcome } = await run(() => failing(), { ctx: { hardMs: 400 } });
    expect(source.calls).toHaveLength(2);
    expect(failureOf(outcome).attempts).toHaveLength(2);
  });

  test('a wait that lasts past the hard limit is followed by no other try', async () => {
    const clock = manualClock();
    const late = { ...clock, after: (ms: number, then: () => void) => clock.after(ms === 250 ? 5_000 : ms, then) };
    const source = fakeSource({ work: () => failing() });
    const { call } = bench([definition('work')], source, { clock: late });
    const outcome = await clock.until(call('work', {}, { ctx: { hardMs: 1_000 } }));
    expect(failureOf(outcome)).toMatchObject({ executed: 'not_executed' });
    expect(source.calls).toHaveLength(1);
  });

  test('cancelling ends the wait between two tries', async () => {
    const cancel = new AbortController();
    const handler: Handler = () => {
      setImmediate(() => cancel.abort());
      return failing();
    };
    const { outcome, source } = await run(handler, { ctx: { signal: cancel.signal } });
    expect(outcome).toMatchObject({ kind: 'cancelled', failure: { executed: 'not_executed' } });
    expect(source.calls).toHaveLength(1);
  });
});

describe('limits of a source', () => {
  test('stand in for those of the caller, longer or shorter', async () => {
    const longer = await run(never, { configured: { idleMs: 3_000 } });
    expect(failureOf(longer.outcome).message).toContain('was silent for 3000 ms');
    const shorter = await run(never, { configured: { hardMs: 200 } });
    expect(failureOf(shorter.outcome).message).toContain('took longer than 200 ms');
  });

  test('do not pass the caps of the dispatcher', async () => {
    const { outcome } = await run(never, { configured: { idleMs: 30_000 }, limits: { idleMs: 500 } });
    expect(failureOf(outcome).message).toContain('was silent for 500 ms');
  });
});
