import { expect, test } from 'vitest';
import type { Json, Origin, PolicyCall, Provenance } from '../contracts/index.ts';
import { askerOf, bench, decision, definition, fakeSource, ok, policyOf } from './fixtures.ts';

const REFUND = definition('refund', { preview: { kind: 'author' } });

/** Says that every string of the arguments is the user's. */
const provenance: Provenance = {
  origins: (args: Json) =>
    new Map(
      Object.entries(args as { [k: string]: Json }).map(([name, value]): [string, Origin] => [
        `/${name}`,
        typeof value === 'string' ? { from: 'user' } : { from: 'nowhere' },
      ]),
    ),
  labels: new Set(['untrusted-content']),
};

test('the policy is told where each argument came from, and both records keep it', async () => {
  const seen: PolicyCall[] = [];
  const policy = policyOf((_who, _tool, call) => {
    seen.push(call);
    return decision('allow');
  });
  const { call, recorder } = bench([definition('work')], fakeSource({ work: () => ok('done') }), { policy });
  await call('work', { to: 'Ada', n: 1 }, { provenance });
  expect(seen[0]?.origins?.get('/to')).toEqual({ from: 'user' });
  expect(seen[0]).toMatchObject({ conversation: 'c1', at: expect.any(Number) });
  const origins = { '/to': { from: 'user' }, '/n': { from: 'nowhere' } };
  expect(recorder.intents[0]).toMatchObject({ origins, labels: ['untrusted-content'] });
  expect(recorder.outcomes[0]).toMatchObject({ origins, labels: ['untrusted-content'] });
});

test('arguments that somebody edited are looked up again', async () => {
  const { asker } = askerOf({ answer: 'allow', by: 'Ada', args: { to: 7 } });
  const { call, recorder } = bench([definition('work')], fakeSource({ work: () => ok('done') }), {
    policy: policyOf('ask'),
    asker,
  });
  await call('work', { to: 'Ada' }, { provenance });
  expect(recorder.intents[0]?.origins).toEqual({ '/to': { from: 'nowhere' } });
});

test('without a conversation behind it, a call says that its labels are not known', async () => {
  let labels: readonly string[] = [];
  const policy = policyOf((_who, _tool, call) => {
    labels = [...call.labels];
    return decision('allow');
  });
  const { call, recorder } = bench([definition('work')], fakeSource({ work: () => ok('done') }), { policy });
  await call('work');
  expect(labels).toEqual(['unknown']);
  expect(recorder.intents[0]).not.toHaveProperty('labels');
});

test('origins that cannot be had are not known, and the call goes on under the rules', async () => {
  const { call, recorder } = bench([definition('work')], fakeSource({ work: () => ok('done') }));
  const broken: Provenance = {
    origins() {
      throw new Error('broken');
    },
    labels: new Set(),
  };
  expect((await call('work', {}, { provenance: broken })).kind).toBe('ok');
  expect(recorder.intents[0]).not.toHaveProperty('origins');
});

test('a preview by another tool is told by the schema of that tool, the call by that of its own', async () => {
  const asked: [Json, Json | undefined][] = [];
  const told: Provenance = {
    origins(args, schema) {
      asked.push([args, schema]);
      return new Map();
    },
    labels: new Set(),
  };
  const own = { type: 'object', properties: { id: { type: 'string' } } };
  const peek = { type: 'object', properties: { order: { type: 'string' } } };
  const tools = [
    definition('refund', {
      inputSchema: own,
      preview: { kind: 'tool', tool: 'peek', arguments: { order: '/id' }, by: 'server' },
    }),
    definition('peek', { inputSchema: peek, effect: 'read' }),
  ];
  const policy = policyOf((_who, tool, { facts }) =>
    tool.ref.tool === 'refund' && facts === undefined ? { ...decision('deny'), needs: ['facts'] } : decision('allow'),
  );
  const source = fakeSource({ refund: () => ok('refunded'), peek: () => ok('{"amount":5}') });
  await bench(tools, source, { policy }).call('refund', { id: 'O-1' }, { provenance: told });
  const schemaOf = (args: object) => asked.find(([each]) => JSON.stringify(each) === JSON.stringify(args))?.[1];
  expect([schemaOf({ id: 'O-1' }), schemaOf({ order: 'O-1' })]).toEqual([own, peek]);
});

test('a refusal for want of facts has them fetched first, and holds where there are none', async () => {
  const policy = policyOf((_who, _tool, { facts }) => {
    if (facts === undefined) return { ...decision('deny'), needs: ['facts'] };
    return decision((facts as { amount: number }).amount < 10 ? 'allow' : 'deny');
  });
  const outcomeFor = async (preview: () => Promise<Json>) => {
    const source = fakeSource({ refund: () => ok('refunded') }, { preview });
    return (await bench([REFUND], source, { policy }).call('refund')).kind;
  };
  expect(await outcomeFor(async () => ({ amount: 5 }))).toBe('ok');
  expect(await outcomeFor(async () => ({ amount: 50 }))).toBe('denied');
  expect(
    await outcomeFor(async () => {
      throw new Error('no facts');
    }),
  ).toBe('denied');
});
