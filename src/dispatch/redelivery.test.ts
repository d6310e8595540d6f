import { expect, test } from 'vitest';
import type { CallContext, SourceResult, Store } from '../contracts/index.ts';
import { memoryStore } from '../store/index.ts';
import { bench, definition, fakeSource, manualClock, ok, policyOf, SERVER } from './fixtures.ts';
import { idempotencyLedger } from './idempotency-ledger.ts';

interface ShopOptions {
  readonly keyed?: boolean;
  readonly store?: Store;
  readonly clock?: ReturnType<typeof manualClock>;
  readonly fingerprint?: string;
  readonly effect?: 'read' | 'write';
}

function shop(handler: () => SourceResult | Promise<SourceResult>, options: ShopOptions = {}) {
  const { store = memoryStore(), clock = manualClock(), fingerprint = 'f1', effect = 'write', keyed = false } = options;
  const source = fakeSource({ pay: handler, refund: handler });
  const ref = (tool: string) => ({ ref: { server: SERVER, tool, name: `mcp__shop__${tool}`, fingerprint } });
  const tools = ['pay', 'refund'].map((tool) =>
    definition(tool, { ...ref(tool), effect, ...(keyed && { idempotencyKey: () => 'act' }) }),
  );
  const idempotency = idempotencyLedger(store, { clock });
  const made = bench(tools, source, { idempotency, clock });
  const start = (args: object, ctx: Partial<CallContext>, more: { name?: string; conversation?: string } = {}) =>
    made.call(more.name ?? 'pay', { ...args }, { conversation: more.conversation ?? 'c1', ctx });
  const call = (...given: Parameters<typeof start>) => clock.until(start(...given));
  return { ...made, start, call, clock, source, store, tools, idempotency };
}

const again = (nth: number, more: Partial<CallContext> = {}) => ({ callId: `call-${nth}`, redelivery: 'leg', ...more });

test('a call that is handed over again is given the first end, and not run', async () => {
  let nth = 0;
  const { call, source, recorder } = shop(() => {
    nth += 1;
    return ok(`paid ${nth}`);
  });
  await call({ id: 'a' }, again(1));
  expect(JSON.stringify(await call({ id: 'a' }, again(2)))).toContain('paid 1');
  expect(source.calls).toHaveLength(1);
  expect(recorder.outcomes.map(({ callId, answeredBy }) => [callId, answeredBy?.callId])).toEqual([
    ['call-1', undefined],
    ['call-2', 'call-1'],
  ]);
});

test('an end that its tool calls an error is an end: the call is not run again', async () => {
  const failing = (): SourceResult => ({ ...ok('half of it was paid'), isError: true }) as SourceResult;
  const { call, source } = shop(failing);
  await call({ id: 'a' }, again(1));
  expect(JSON.stringify(await call({ id: 'a' }, again(2)))).toContain('half of it was paid');
  expect(source.calls).toHaveLength(1);
});

test('an error that frees the act of a tool with an idempotency key does not free the call that had it', async () => {
  const failing = (): SourceResult => ({ ...ok('half of it was paid'), isError: true }) as SourceResult;
  const { call, source, recorder } = shop(failing, { keyed: true });
  await call({ id: 'a' }, again(1));
  expect(JSON.stringify(await call({ id: 'a' }, again(2)))).toContain('half of it was paid');
  expect(source.calls).toHaveLength(1);
  expect(recorder.outcomes[1]?.answeredBy?.callId).toBe('call-1');
  await call({ id: 'a' }, { callId: 'call-3' });
  expect(source.calls).toHaveLength(2);
});

test('what another call had done for the same act is the end of a call that comes again, too', async () => {
  let nth = 0;
  const { call, source } = shop(
    () => {
      nth += 1;
      return ok(`paid ${nth}`);
    },
    { keyed: true },
  );
  await call({ id: 'a' }, { callId: 'call-0' });
  for (const each of [1, 2]) expect(JSON.stringify(await call({ id: 'a' }, again(each)))).toContain('paid 1');
  expect(source.calls).toHaveLength(1);
});

test('one that comes while the first is under way waits for its end, and records tell the two apart', async () => {
  let pay: (result: SourceResult) => void = () => {};
  const { start, clock, source, recorder } = shop(
    () =>
      new Promise((resolve) => {
        pay = resolve;
      }),
  );
  const same = { callId: 'call-1', redelivery: 'leg' };
  const first = start({ id: 'a' }, same);
  const second = start({ id: 'a' }, same);
  while (source.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  pay(ok('paid'));
  expect(JSON.stringify(await clock.until(first))).toContain('paid');
  expect(JSON.stringify(await clock.until(second))).toContain('paid');
  expect(source.calls).toHaveLength(1);
  expect(recorder.intents.map(({ callId }) => callId)).toEqual(['call-1']);
  const ends = new Map(recorder.outcomes.map(({ callId, answeredBy }) => [callId, answeredBy?.callId]));
  expect(ends).toEqual(
    new Map([
      ['call-1', undefined],
      ['call-1#2', 'call-1'],
    ]),
  );
});

test('one whose first process died in the middle is not run: nobody knows', async () => {
  const store = memoryStore();
  const dying = shop(() => new Promise(() => {}), { store });
  // Its clock stands still: as a process that is no more, it says nothing any longer.
  void dying.start({ id: 'a' }, again(1));
  while (dying.source.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const { call, source: later } = shop(() => ok('paid'), { store });
  expect(await call({ id: 'a' }, again(2))).toMatchObject({ kind: 'failed', failure: { executed: 'unknown' } });
  expect(later.calls).toHaveLength(0);
});

test.each<[string, object, Partial<CallContext>, string?]>([
  ['other arguments', { id: 'b' }, {}],
  ['other answers', { id: 'a' }, { answers: { responses: { who: 'Bob' } } }],
  ['another tool', { id: 'a' }, {}, 'refund'],
])('%s under the same name are refused, with a record', async (_, args, ctx, name = 'pay') => {
  const { call, source, recorder } = shop(() => ok('paid'));
  await call({ id: 'a' }, again(1));
  const outcome = await call(args, again(2, ctx), { name });
  expect(outcome).toMatchObject({ kind: 'failed', failure: { executed: 'not_executed', category: 'validation' } });
  expect(source.calls).toHaveLength(1);
  expect(recorder.outcomes).toHaveLength(2);
});

test('a definition that changed meanwhile makes it another call, which is refused', async () => {
  const store = memoryStore();
  const clock = manualClock();
  await shop(() => ok('paid'), { store, clock }).call({ id: 'a' }, again(1));
  const { call, source } = shop(() => ok('paid'), { store, clock, fingerprint: 'f2' });
  expect(await call({ id: 'a' }, again(2))).toMatchObject({ kind: 'failed' });
  expect(source.calls).toHaveLength(0);
});

test.each<[string, Partial<CallContext>, Partial<CallContext>, string?]>([
  ['an id alone', { callId: 'toolu_1' }, { callId: 'toolu_1' }],
  ['another conversation', again(1), again(2), 'c2'],
  ['another agent', again(1), again(2, { who: { agent: 'other', via: 'library' } })],
  ['another user', again(1), again(2, { who: { agent: 'tester', user: 'u', via: 'library' } })],
])('%s makes two calls no single one', async (_, one, other, conversation = 'c1') => {
  const { call, source } = shop(() => ok('paid'));
  await call({ id: 'a' }, one);
  await call({ id: 'a' }, other, { conversation });
  expect(source.calls).toHaveLength(2);
});

test('what only reads is run again', async () => {
  const { call, source } = shop(() => ok('read'), { effect: 'read' });
  await call({ id: 'a' }, again(1));
  await call({ id: 'a' }, again(2));
  expect(source.calls).toHaveLength(2);
});

test('whoever may not make the call any more is given nothing', async () => {
  const { call, tools, source, idempotency } = shop(() => ok('paid'));
  await call({ id: 'a' }, again(1));
  const denied = bench(tools, source, { idempotency, policy: policyOf('deny') });
  expect(await denied.call('pay', { id: 'a' }, { ctx: again(2) })).toMatchObject({ kind: 'denied' });
});

test('calls at once under one id are recorded under ids of their own, and an id is free again after its call', async () => {
  const { call, recorder, source } = shop(() => ok('paid'));
  await Promise.all([call({ id: 'a' }, { callId: 'x' }), call({ id: 'b' }, { callId: 'x' })]);
  await call({ id: 'c' }, { callId: 'x' });
  expect(source.calls).toHaveLength(3);
  const told = (records: readonly { callId: string; args: unknown }[]) =>
    new Map(records.map(({ callId, args }) => [JSON.stringify(args), callId]));
  expect(told(recorder.outcomes)).toEqual(told(recorder.intents));
  expect([...told(recorder.outcomes).values()].sort()).toEqual(['x', 'x', 'x#2']);
});
