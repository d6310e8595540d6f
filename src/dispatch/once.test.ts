import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Failure, IdempotencyLedger, Outcome, RecordVersions, SourceResult, Store } from '../contracts/index.ts';
import { memoryStore } from '../store/index.ts';
import { ToolFailure } from '../tools/index.ts';
import {
  bench,
  definition,
  fakeSource,
  type Handler,
  type ManualClock,
  manualClock,
  ok,
  policyOf,
} from './fixtures.ts';
import { type IdempotencyLedgerOptions, idempotencyLedger } from './idempotency-ledger.ts';

const KEYED = { idempotencyKey: (args: unknown) => String((args as { id: unknown }).id) };
const pay = definition('pay', KEYED);
const plain = definition('plain');
const FAILURE: Failure = {
  category: 'business',
  retryable: false,
  message: 'Paid, but no receipt.',
  executed: 'executed',
  attempts: [],
};

interface ShopOptions extends IdempotencyLedgerOptions {
  readonly clock?: ManualClock;
  readonly store?: Store;
}

function shop(handler: Handler, { clock = manualClock(), store = memoryStore(), ...more }: ShopOptions = {}) {
  const source = fakeSource({ pay: handler, plain: handler });
  const idempotency = idempotencyLedger(store, { clock, ...more });
  return { clock, store, source, ...bench([pay, plain], source, { idempotency, clock }) };
}

/** Lets the clock run until the call is over. */
const over = (clock: ManualClock, call: Promise<Outcome>) => clock.until(call);

const failureOf = (outcome: Outcome) => {
  if (outcome.kind !== 'failed' && outcome.kind !== 'cancelled') throw new Error(`It ended as ${outcome.kind}.`);
  return outcome.failure;
};

describe('a tool with an idempotency key', () => {
  test('is run once for one key, and the first result comes back', async () => {
    let nth = 0;
    const { clock, call, source, recorder } = shop(() => {
      nth += 1;
      return ok(`paid ${nth}`);
    });
    const first = await over(clock, call('pay', { id: 'a' }, { ctx: { callId: 'one' } }));
    const second = await over(clock, call('pay', { id: 'a' }, { ctx: { callId: 'two' } }));
    expect(first).toMatchObject({ kind: 'ok', content: 'paid 1' });
    expect(second).toMatchObject({ kind: 'ok', content: 'paid 1' });
    expect(source.calls).toHaveLength(1);
    expect(recorder.intents.map(({ callId }) => callId)).toEqual(['one']);
    expect(recorder.outcomes[1]).toMatchObject({ callId: 'two', attempts: 0, answeredBy: { callId: 'one' } });
  });

  test('is run for each other key, agent and user', async () => {
    const { clock, call, source } = shop(() => ok('paid'));
    await over(clock, call('pay', { id: 'a' }));
    await over(clock, call('pay', { id: 'b' }));
    await over(clock, call('pay', { id: 'a' }, { ctx: { who: { agent: 'other', via: 'library' } } }));
    await over(clock, call('pay', { id: 'a' }, { ctx: { who: { agent: 'tester', user: 'ann', via: 'library' } } }));
    expect(source.calls).toHaveLength(4);
  });

  test('refuses the same key with other arguments', async () => {
    const { clock, call, source } = shop(() => ok('paid'));
    await over(clock, call('pay', { id: 'a', amount: 1 }, { ctx: { callId: 'one' } }));
    const failure = failureOf(await over(clock, call('pay', { id: 'a', amount: 2 })));
    expect(failure).toMatchObject({ executed: 'not_executed', category: 'validation', retryable: false });
    expect(failure.message).toContain('call one of');
    expect(source.calls).toHaveLength(1);
  });

  test('makes a second call at the same time wait for the first', async () => {
    let finish: (() => void) | undefined;
    const { clock, call, source } = shop(() => new Promise((resolve) => (finish = () => resolve(ok('paid once')))));
    const first = call('pay', { id: 'a' }, { ctx: { callId: 'one' } });
    const second = call('pay', { id: 'a' }, { ctx: { callId: 'two' } });
    await clock.advance(3_000);
    finish?.();
    expect(await over(clock, first)).toMatchObject({ content: 'paid once' });
    expect(await over(clock, second)).toMatchObject({ content: 'paid once' });
    expect(source.calls).toHaveLength(1);
  });

  test('runs the second call when the first turns out not to have run', async () => {
    let nth = 0;
    const { clock, call, source } = shop(() => {
      nth += 1;
      if (nth === 1) throw new ToolFailure('The bank is closed.', { executed: 'not_executed' });
      return ok('paid');
    });
    expect(failureOf(await over(clock, call('pay', { id: 'a' }))).executed).toBe('not_executed');
    expect(await over(clock, call('pay', { id: 'a' }))).toMatchObject({ kind: 'ok', content: 'paid' });
    expect(source.calls).toHaveLength(2);
  });

  test("frees the key at an error that the tool itself reports, since the act failed by the tool's word", async () => {
    let nth = 0;
    const { clock, call } = shop(() => {
      nth += 1;
      return { ...ok('declined'), isError: nth === 1 } as SourceResult;
    });
    expect(await over(clock, call('pay', { id: 'a' }))).toMatchObject({ isError: true });
    expect(await over(clock, call('pay', { id: 'a' }))).toMatchObject({ isError: false });
  });

  test('is not run again while nobody knows whether it took effect', async () => {
    const { clock, call, source } = shop(() => {
      throw new Error('the line went dead');
    });
    expect(failureOf(await over(clock, call('pay', { id: 'a' }, { ctx: { callId: 'one' } }))).executed).toBe('unknown');
    const failure = failureOf(await over(clock, call('pay', { id: 'a' })));
    expect(failure).toMatchObject({ executed: 'unknown', retryable: false });
    expect(failure.message).toContain('call one of');
    expect(source.calls).toHaveLength(1);
  });

  test('gives a failure after the act back as it was', async () => {
    const failure = { partial: { half: true }, executed: 'executed' as const };
    const { clock, call, source } = shop(() => {
      throw new ToolFailure('Paid, but the receipt is lost.', failure);
    });
    await over(clock, call('pay', { id: 'a' }));
    const again = failureOf(await over(clock, call('pay', { id: 'a' })));
    expect(again).toMatchObject({ message: 'Paid, but the receipt is lost.', executed: 'executed' });
    expect(again.partial?.parse()).toEqual({ half: true });
    expect(source.calls).toHaveLength(1);
  });

  test('may be run again when its time is over, and not before', async () => {
    const { clock, call, source } = shop(() => ok('paid'), { ttlMs: 60_000 });
    await over(clock, call('pay', { id: 'a' }));
    await clock.advance(50_000);
    await over(clock, call('pay', { id: 'a' }));
    expect(source.calls).toHaveLength(1);
    await clock.advance(20_000);
    await over(clock, call('pay', { id: 'a' }));
    expect(source.calls).toHaveLength(2);
  });

  test('says so when the first result was too large to keep', async () => {
    const { clock, call, source } = shop(() => ok('x'.repeat(300_000)));
    await over(clock, call('pay', { id: 'a' }));
    expect(failureOf(await over(clock, call('pay', { id: 'a' })))).toMatchObject({ executed: 'executed' });
    expect(source.calls).toHaveLength(1);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no id');
      },
    ],
    ['is empty', () => ''],
    ['is no text', () => 7 as unknown as string],
    ['is too long', () => 'k'.repeat(1_001)],
  ])('is not run when its key %s', async (_, idempotencyKey) => {
    const source = fakeSource({ pay: () => ok('paid') });
    const idempotency = idempotencyLedger(memoryStore());
    const { call } = bench([definition('pay', { idempotencyKey })], source, { idempotency });
    expect(failureOf(await call('pay'))).toMatchObject({ executed: 'not_executed', category: 'validation' });
    expect(source.calls).toHaveLength(0);
  });

  test('is not run when the ledger fails', async () => {
    const source = fakeSource({ pay: () => ok('paid') });
    const fails = () => Promise.reject(new Error('disk full'));
    const idempotency: IdempotencyLedger = { claim: fails, find: fails };
    const { call } = bench([pay], source, { idempotency });
    const failure = failureOf(await call('pay', { id: 'a' }));
    expect(failure).toMatchObject({ executed: 'not_executed' });
    expect(failure.message).toContain('disk full');
    expect(source.calls).toHaveLength(0);
  });

  test('gives nothing back to a caller who may not call it', async () => {
    const store = memoryStore();
    const { clock, call } = shop(() => ok('secret'), { store });
    await over(clock, call('pay', { id: 'a' }));
    const source = fakeSource({ pay: () => ok('secret') });
    const denied = bench([pay], source, { idempotency: idempotencyLedger(store, { clock }), policy: policyOf('deny') });
    expect(await denied.call('pay', { id: 'a' })).toMatchObject({ kind: 'denied' });
  });

  test('lets a waiting call be cancelled without running anything', async () => {
    const { clock, call, source } = shop(() => new Promise(() => {}));
    const first = call('pay', { id: 'a' });
    const stop = new AbortController();
    const second = call('pay', { id: 'a' }, { ctx: { callId: 'two', signal: stop.signal } });
    await clock.advance(1_000);
    stop.abort();
    expect(await over(clock, second)).toMatchObject({ kind: 'cancelled', failure: { executed: 'not_executed' } });
    expect(source.calls).toHaveLength(1);
    await over(clock, first);
  });
});

describe('several processes with one store', () => {
  const key = { agent: 'a', server: null, tool: 'pay', key: 'k' };
  const none = new AbortController().signal;

  test('wait for each other', async () => {
    const clock = manualClock();
    const store = memoryStore();
    const first = await idempotencyLedger(store, { clock }).claim(key, { callId: 'one', argsDigest: 'd' }, none);
    const second = idempotencyLedger(store, { clock }).claim(key, { callId: 'two', argsDigest: 'd' }, none);
    // Longer than the lease: the first call is slow, not dead, and says so.
    for (let i = 0; i < 12; i += 1) await clock.advance(10_000);
    if (first.kind !== 'mine') throw new Error(first.kind);
    await first.settle({ kind: 'done', end: { kind: 'failed', failure: FAILURE } });
    expect(await clock.until(second)).toMatchObject({ kind: 'done', callId: 'one', end: { failure: FAILURE } });
  });

  test('hear that nobody knows, when the first one died in the middle', async () => {
    const store = memoryStore();
    const dying = manualClock();
    await idempotencyLedger(store, { clock: dying }).claim(key, { callId: 'one', argsDigest: 'd' }, none);
    const clock = manualClock();
    const second = idempotencyLedger(store, { clock }).claim(key, { callId: 'two', argsDigest: 'd' }, none);
    expect(await clock.until(second)).toMatchObject({ kind: 'unknown', callId: 'one' });
  });

  test('let a call that was only slow still tell its end', async () => {
    const store = memoryStore();
    const slow = manualClock();
    const first = await idempotencyLedger(store, { clock: slow }).claim(key, { callId: 'one', argsDigest: 'd' }, none);
    const clock = manualClock();
    await clock.until(idempotencyLedger(store, { clock }).claim(key, { callId: 'two', argsDigest: 'd' }, none));
    if (first.kind !== 'mine') throw new Error(first.kind);
    await first.settle({ kind: 'released' });
    const third = await idempotencyLedger(store, { clock }).claim(key, { callId: 'three', argsDigest: 'd' }, none);
    expect(third.kind).toBe('mine');
  });
});

test('a call that has no key is run as often as it is made', async () => {
  const source = fakeSource({ pay: () => ok('paid') });
  const idempotency = idempotencyLedger(memoryStore());
  const { call } = bench([definition('pay', { idempotencyKey: () => null })], source, { idempotency });
  await call('pay', { id: 'a' });
  await call('pay', { id: 'a' });
  expect(source.calls).toHaveLength(2);
});

test('a tool without an idempotency key is run as often as it is called', async () => {
  const { clock, call, source } = shop(() => ok('done'));
  await over(clock, call('plain', { id: 'a' }));
  await over(clock, call('plain', { id: 'a' }));
  expect(source.calls).toHaveLength(2);
});

test('the ledger keeps to its size, and lets the oldest acts go', async () => {
  const { clock, call, source, store } = shop(() => ok('done'), { maxEntries: 100 });
  for (let nth = 0; nth < 512; nth += 1) {
    await call('pay', { id: String(nth) });
    if (nth % 100 === 0) await clock.advance(1);
  }
  const kept: string[] = [];
  for await (const [key] of store.table('idempotency').list('')) kept.push(key);
  expect(kept.length).toBeLessThanOrEqual(100 + 256);
  await over(clock, call('pay', { id: '511' }));
  expect(source.calls).toHaveLength(512);
});

test('what is over is let go by processes that make one call each', async () => {
  const store = memoryStore();
  const clock = manualClock();
  for (let nth = 0; nth < 10; nth += 1) {
    const { call } = shop(() => ok('done'), { clock, store, ttlMs: 1_000 });
    await over(clock, call('pay', { id: String(nth) }));
    await clock.advance(1_000);
  }
  const kept: string[] = [];
  for await (const [key] of store.table('idempotency').list('')) kept.push(key);
  expect(kept.length).toBeLessThanOrEqual(2);
});

test('what is still under way is remembered for longer than what has ended is', async () => {
  const store = memoryStore();
  const clock = manualClock();
  const slow = shop(() => new Promise(() => {}), { clock, store, ttlMs: 1_000 });
  const first = slow.call('pay', { id: 'a' }, { ctx: { idleMs: 600_000, hardMs: 600_000 } });
  await clock.advance(5_000);
  // The first act of another process lets go of what is over.
  const other = shop(() => ok('paid'), { clock, store, ttlMs: 1_000 });
  await over(clock, other.call('pay', { id: 'b' }));
  const second = other.call('pay', { id: 'a' }, { ctx: { callId: 'two', hardMs: 10_000 } });
  expect(failureOf(await over(clock, second)).message).toContain('still under way');
  expect(other.source.calls).toHaveLength(1);
  await over(clock, first);
});

test('a claim that a slow store grants to a call that has been given up is let go again', async () => {
  const clock = manualClock();
  const inner = memoryStore();
  let grant: () => void = () => {};
  const granted = new Promise<void>((resolve) => {
    grant = resolve;
  });
  const store: Store = {
    ...inner,
    table<T extends { readonly v: number }>(name: string, versions?: RecordVersions<T>) {
      const table = inner.table<T>(name, versions);
      return {
        ...table,
        async put(key: string, value: T | null, rev: number | null) {
          await granted;
          return table.put(key, value, rev);
        },
      };
    },
  };
  const given = shop(() => ok('paid'), { clock, store });
  expect(await over(clock, given.call('pay', { id: 'a' }, { ctx: { hardMs: 1_000 } }))).toMatchObject({
    kind: 'failed',
  });
  grant();
  const { call, source } = shop(() => ok('paid'), { clock, store: inner });
  expect(await over(clock, call('pay', { id: 'a' }, { ctx: { callId: 'two' } }))).toMatchObject({ kind: 'ok' });
  expect([given.source.calls.length, source.calls.length]).toEqual([0, 1]);
});

test('whatever the order of calls, failures and deaths, no act is known to have run twice', async () => {
  const step = fc.record({
    id: fc.constantFrom('a', 'b'),
    ends: fc.constantFrom('ok', 'error', 'not_executed', 'unknown', 'executed'),
    waits: fc.nat({ max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const clock = manualClock();
      const effects = new Map<string, number>();
      const did = (id: string) => effects.set(id, (effects.get(id) ?? 0) + 1);
      const ends = [...steps];
      const { call } = shop(
        async (args) => {
          const { id } = args as { id: string };
          const { ends: how, waits } = ends.shift() ?? { ends: 'ok', waits: 0 };
          for (let i = 0; i < waits; i += 1) await new Promise((resolve) => setImmediate(resolve));
          if (how === 'not_executed') throw new ToolFailure('no', { executed: 'not_executed' });
          if (how === 'error') return { ...ok('no'), isError: true } as SourceResult;
          did(id);
          if (how === 'unknown') throw new Error('gone');
          if (how === 'executed') throw new ToolFailure('late', { executed: 'executed' });
          return ok('yes');
        },
        { clock },
      );
      await Promise.all(steps.map(({ id }, nth) => over(clock, call('pay', { id }, { ctx: { callId: `c${nth}` } }))));
      for (const [, times] of effects) expect(times).toBe(1);
    }),
    { numRuns: 150 },
  );
});
