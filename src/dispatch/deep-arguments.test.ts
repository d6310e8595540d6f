import { expect, test } from 'vitest';
import type { CallOutcomeRecord, Json, Source } from '../contracts/index.ts';
import { rawJson } from '../tools/index.ts';
import { createDispatcher } from './dispatcher.ts';
import { bench, decision, definition, fakeSource, ok, policyOf, SERVER } from './fixtures.ts';
import { nullRecorder } from './recorders.ts';

test.each([
  [499, 'ok'],
  [501, 'invalid'],
  [30_000, 'invalid'],
])('of arguments that are nested %i deep every recorder can keep what it is given: %s', async (depth, kind) => {
  const records: CallOutcomeRecord[] = [];
  const tool = definition('work');
  const source: Source = {
    server: SERVER,
    list: async () => ({ tools: [tool], setAside: [] }),
    call: async () => ok('done'),
  } as never;
  const dispatcher = createDispatcher({
    find: () => ({ tool, source }),
    policy: { view: () => decision('allow'), decide: () => decision('allow') },
    asker: { ask: () => Promise.reject(new Error('Nobody is asked.')) },
    recorder: { ...nullRecorder(), outcome: (record) => void records.push(record) },
  });
  const outcome = await dispatcher.call({
    name: tool.ref.name,
    args: rawJson(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
    conversation: 'c',
    ctx: { callId: '1', who: { agent: 'a', via: 'library' }, signal: new AbortController().signal },
  } as never);
  expect(outcome.kind).toBe(kind);
  expect(JSON.stringify(records.map(({ args }) => args))).toContain('{');
});

test.each([
  [400, 'ok'],
  [2_000, 'denied'],
])('facts that are nested %i deep are had, or missing; either way there is a record: %s', async (depth, kind) => {
  const facts = JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as Json;
  const source = fakeSource({ refund: () => ok('done') }, { preview: async () => facts });
  const policy = policyOf((_who, _tool, call) =>
    call.facts === undefined ? { ...decision('deny'), needs: ['facts'] } : decision('allow'),
  );
  const { call, recorder } = bench([definition('refund', { preview: { kind: 'author' } })], source, { policy });
  expect((await call('refund')).kind).toBe(kind);
  expect(JSON.stringify(recorder.outcomes)).toContain('refund');
});
