/** Calls that are handed over again, of tools that a person is asked about: each yes is good for one call. */
import { expect, test } from 'vitest';
import type { AskReply, CallContext, IdempotencyLedger, Policy, SourceResult } from '../contracts/index.ts';
import { memoryStore } from '../store/index.ts';
import {
  askerOf,
  bench,
  decision,
  definition,
  fakeSource,
  type Handler,
  manualClock,
  never,
  ok,
  policyOf,
} from './fixtures.ts';
import { idempotencyLedger } from './idempotency-ledger.ts';

const PARKED: AskReply = { answer: 'parked', approval: 'a-1' };
const YES: AskReply = { answer: 'allow', by: 'pia' };

interface ShopOptions {
  readonly effect?: 'read' | 'write';
  readonly policy?: Policy;
  readonly replies?: readonly AskReply[];
  readonly idempotency?: IdempotencyLedger;
}

/** The first call is approved; whatever comes later would have to be approved anew. */
function shop(pay: Handler, options: ShopOptions = {}) {
  const { effect = 'write', policy = policyOf('ask'), replies = [YES, PARKED] } = options;
  const clock = manualClock();
  const source = fakeSource({ pay });
  const { asker, questions } = askerOf(...replies);
  const idempotency = options.idempotency ?? idempotencyLedger(memoryStore(), { clock });
  const made = bench([definition('pay', { effect })], source, { idempotency, clock, policy, asker });
  const start = (args: object, ctx: Partial<CallContext>) => made.call('pay', { ...args }, { ctx });
  const call = (...given: Parameters<typeof start>) => clock.until(start(...given));
  return { start, call, clock, source, questions, recorder: made.recorder, idempotency };
}

function counting(): Handler {
  let nth = 0;
  return () => {
    nth += 1;
    return ok(`paid ${nth}`);
  };
}

const again = (nth: number, more: Partial<CallContext> = {}) => ({ callId: `call-${nth}`, redelivery: 'leg', ...more });

test.each(['write', 'read'] as const)(
  'one that was approved is given its first end, and nobody is asked anew (%s)',
  async (effect) => {
    const { call, source, questions, recorder } = shop(counting(), { effect });
    await call({ id: 'a' }, again(1));
    expect(JSON.stringify(await call({ id: 'a' }, again(2)))).toContain('paid 1');
    expect(source.calls).toHaveLength(1);
    expect(questions).toHaveLength(1);
    expect(
      recorder.outcomes.map(({ callId, answeredBy, asked }) => [callId, answeredBy?.callId, asked?.answer]),
    ).toEqual([
      ['call-1', undefined, 'allow'],
      ['call-2', 'call-1', undefined],
    ]);
  },
);

test('one whose approver changed the arguments is the same call still', async () => {
  const { call, source, questions } = shop(counting(), { replies: [{ ...YES, args: { id: 'b' } }, PARKED] });
  await call({ id: 'a' }, again(1));
  expect(JSON.stringify(await call({ id: 'a' }, again(2)))).toContain('paid 1');
  expect(source.calls.map(({ args }) => args)).toEqual([{ id: 'b' }]);
  expect(questions.length).toBeGreaterThan(0);
});

test('whoever may not make it any more is given nothing', async () => {
  let effect: 'ask' | 'deny' = 'ask';
  const { call } = shop(counting(), { policy: policyOf(() => decision(effect)) });
  await call({ id: 'a' }, again(1));
  effect = 'deny';
  expect(await call({ id: 'a' }, again(2))).toMatchObject({ kind: 'denied' });
});

test('one that comes while the first is under way waits for its end', async () => {
  let pay: (result: SourceResult) => void = () => {};
  const { start, clock, source, questions } = shop(
    () =>
      new Promise((resolve) => {
        pay = resolve;
      }),
  );
  const first = start({ id: 'a' }, again(1));
  while (source.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const second = start({ id: 'a' }, again(2));
  pay(ok('paid'));
  expect(JSON.stringify(await clock.until(first))).toContain('paid');
  expect(JSON.stringify(await clock.until(second))).toContain('paid');
  expect(questions).toHaveLength(1);
});

test('one of which nobody knows whether it ran says so, and other arguments under its name are refused', async () => {
  const store = memoryStore();
  const dying = shop(() => never<SourceResult>(), { idempotency: idempotencyLedger(store, { clock: manualClock() }) });
  void dying.start({ id: 'a' }, again(1));
  while (dying.source.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const clock = manualClock();
  await clock.advance(60 * 60_000);
  const { call, questions } = shop(counting(), { idempotency: idempotencyLedger(store, { clock }) });
  expect(await call({ id: 'a' }, again(2))).toMatchObject({ kind: 'failed', failure: { executed: 'unknown' } });
  expect(await call({ id: 'b' }, again(3))).toMatchObject({ kind: 'failed', failure: { category: 'validation' } });
  expect(questions).toHaveLength(0);
});

test('one that was only asked about, or whose name was never heard, is asked about', async () => {
  const { call, questions, source } = shop(counting(), { replies: [PARKED, YES] });
  expect(await call({ id: 'a' }, again(1))).toMatchObject({ kind: 'parked' });
  expect(JSON.stringify(await call({ id: 'a' }, again(2)))).toContain('paid 1');
  expect(questions).toHaveLength(2);
  expect(source.calls).toHaveLength(1);
});

test('another call of the same arguments is asked about', async () => {
  const { call, questions } = shop(counting());
  await call({ id: 'a' }, again(1));
  expect(await call({ id: 'a' }, { callId: 'call-2' })).toMatchObject({ kind: 'parked' });
  expect(await call({ id: 'a' }, { callId: 'call-3', redelivery: 'other' })).toMatchObject({ kind: 'parked' });
  expect(questions).toHaveLength(3);
});

test('a ledger that cannot be read runs nothing, and asks nobody', async () => {
  const fails = () => Promise.reject(new Error('disk full'));
  const { call, questions, source } = shop(counting(), { idempotency: { claim: fails, find: fails } });
  const outcome = await call({ id: 'a' }, again(1));
  expect(outcome).toMatchObject({ kind: 'failed', failure: { executed: 'not_executed' } });
  expect(JSON.stringify(outcome)).toContain('disk full');
  expect([questions.length, source.calls.length]).toEqual([0, 0]);
});
