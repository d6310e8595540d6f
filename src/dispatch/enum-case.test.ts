import { describe, expect, test } from 'vitest';
import type { Json, Origin, PolicyCall } from '../contracts/index.ts';
import { askerOf, bench, decision, definition, fakeSource, ok, policyOf } from './fixtures.ts';

const inputSchema = {
  type: 'object',
  properties: { mode: { type: 'string', enum: ['dry-run', 'delete'] }, note: { type: 'string' } },
  required: ['mode'],
  additionalProperties: false,
};
const work = definition('work', { inputSchema });

describe('an enum value in another letter case', () => {
  test('is put right before anything is decided: rules see what runs, the record keeps what was proposed', async () => {
    const seen: PolicyCall[] = [];
    const policy = policyOf((_who, _tool, call) => {
      seen.push(call);
      return decision('allow');
    });
    const source = fakeSource({ work: () => ok('done') });
    const { call, recorder } = bench([work], source, { policy });
    expect(await call('work', { mode: 'DELETE', note: 'DELETE' })).toMatchObject({ kind: 'ok' });
    const args = { mode: 'delete', note: 'DELETE' };
    expect(seen.map((each) => each.args)).toEqual([args]);
    expect(source.calls.map((each) => each.args)).toEqual([args]);
    const proposed = { mode: 'DELETE', note: 'DELETE' };
    expect(recorder.intents[0]).toMatchObject({ args, proposed });
    expect(recorder.outcomes[0]).toMatchObject({ args, proposed });
  });

  test('is what somebody is asked about, and their yes covers just that', async () => {
    const { asker, questions } = askerOf({ answer: 'allow', by: 'Ada' });
    const source = fakeSource({ work: () => ok('done') });
    const { call, recorder } = bench([work], source, { policy: policyOf('ask'), asker });
    await call('work', { mode: 'Delete' });
    expect(questions).toMatchObject([{ args: { mode: 'delete' } }]);
    expect(source.calls.map((each) => each.args)).toEqual([{ mode: 'delete' }]);
    expect(recorder.outcomes[0]).toMatchObject({ args: { mode: 'delete' }, proposed: { mode: 'Delete' } });
  });

  test('came from where it was found as it was written', async () => {
    const origins = (args: Json) =>
      new Map(
        Object.entries(args as { [k: string]: Json }).map(([name, value]): [string, Origin] => [
          `/${name}`,
          value === 'DELETE' ? { from: 'result', callId: '1', server: 'web' } : { from: 'user' },
        ]),
      );
    const { call, recorder } = bench([work], fakeSource({ work: () => ok('done') }));
    await call('work', { mode: 'DELETE' }, { provenance: { origins, labels: new Set() } });
    expect(recorder.intents[0]?.origins).toEqual({ '/mode': { from: 'result', callId: '1', server: 'web' } });
  });

  test('with anything else wrong is refused, as it was proposed', async () => {
    const source = fakeSource({ work: () => ok('done') });
    const { call, recorder } = bench([work], source);
    expect(await call('work', { mode: 'DELETE', x: 1 })).toMatchObject({ kind: 'invalid' });
    expect(recorder.outcomes[0]).toMatchObject({ args: { mode: 'DELETE', x: 1 } });
    expect(recorder.outcomes[0]).not.toHaveProperty('proposed');
    expect(source.calls).toEqual([]);
  });

  test('is left as it is where the schema takes it so, whatever else has to be put right', async () => {
    const open = definition('open', {
      inputSchema: {
        type: 'object',
        properties: {
          mode: { enum: ['dry-run', 'delete'] },
          // Some known names, and any other.
          model: { anyOf: [{ enum: ['gpt', 'opus'] }, { type: 'string' }] },
        },
        anyOf: [
          { properties: { mode: { const: 'delete' }, text: { type: 'string' } } },
          { properties: { mode: { const: 'dry-run' }, text: { enum: ['hello'] } } },
        ],
      },
    });
    const source = fakeSource({ open: () => ok('done') });
    const { call, recorder } = bench([open], source);
    await call('open', { text: 'Hello', mode: 'DELETE', model: 'GPT' });
    expect(source.calls.map((each) => each.args)).toEqual([{ text: 'Hello', mode: 'delete', model: 'GPT' }]);
    expect(recorder.intents[0]?.proposed).toEqual({ text: 'Hello', mode: 'DELETE', model: 'GPT' });
    await call('open', { text: 'Hello', mode: 'DRY-RUN', model: 'GPT' });
    expect(source.calls.at(-1)?.args).toEqual({ text: 'hello', mode: 'dry-run', model: 'GPT' });
  });

  test('many at once are put right, and too many to try are refused', async () => {
    const list = definition('list', {
      inputSchema: { type: 'object', properties: { all: { type: 'array', items: { enum: ['on', 'off'] } } } },
    });
    const source = fakeSource({ list: () => ok('done') });
    const { call } = bench([list], source);
    await call('list', { all: Array.from({ length: 100 }, () => 'On') });
    expect(source.calls[0]?.args).toEqual({ all: Array.from({ length: 100 }, () => 'on') });
    expect(await call('list', { all: Array.from({ length: 101 }, () => 'On') })).toMatchObject({ kind: 'invalid' });
  });

  test('goes to the server as it is where calls are only relayed', async () => {
    const source = fakeSource({ work: () => ok('done') });
    const { call, recorder } = bench([work], source);
    await call('work', { mode: 'DELETE' }, { profile: 'relay' });
    expect(source.calls.map((each) => each.args)).toEqual([{ mode: 'DELETE' }]);
    expect(recorder.outcomes[0]).not.toHaveProperty('proposed');
  });

  test('that a hook gives is not put right: it is not the model that is to blame', async () => {
    const policy = policyOf((_who, _tool, { args }) =>
      (args as { mode: string }).mode === 'dry-run'
        ? { ...decision('allow'), input: { mode: 'DELETE' } }
        : decision('allow'),
    );
    const { call } = bench([work], fakeSource({ work: () => ok('done') }), { policy });
    expect(await call('work', { mode: 'dry-run' })).toMatchObject({ kind: 'denied' });
  });
});
