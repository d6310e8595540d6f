import { describe, expect, test } from 'vitest';
import type { ToolDefinition } from '../contracts/index.ts';
import { applyView, type ViewOptions, view } from '../policy/index.ts';
import { rawFrom } from '../tools/index.ts';
import { askerOf, bench, decision, definition, fakeSource, ok, policyOf } from './fixtures.ts';

const SCHEMA = {
  type: 'object',
  properties: { url: { type: 'string' }, follow: { type: 'boolean' } },
  required: ['url'],
};

function viewOf(options: Partial<ViewOptions>, more: Partial<ToolDefinition> = {}): ToolDefinition {
  const fetch = definition('fetch', { inputSchema: SCHEMA, ...more });
  const made = applyView(fetch, view({ name: 'load', server: 'shop', tool: 'fetch', ...options }));
  if ('problem' in made) throw new Error(made.problem.text);
  return made.tool;
}

const FIXED = { arguments: { follow: { fixed: false }, url: { enum: ['a', 'b'] } } };

describe.each(['agent', 'relay'] as const)('in the profile %s, a view', (profile) => {
  test('is called as the tool behind it, with what it makes of the arguments; both are on record', async () => {
    const source = fakeSource({ fetch: () => ok('done') });
    const { call, recorder } = bench([viewOf(FIXED)], source);
    expect(await call('load', { url: 'a' }, { profile })).toMatchObject({ kind: 'ok' });
    expect(source.calls.map(({ tool, args }) => [tool, args])).toEqual([['fetch', { url: 'a', follow: false }]]);
    const behind = { ref: { tool: 'fetch' }, args: { url: 'a', follow: false } };
    expect(recorder.intents[0]).toMatchObject({ ref: { tool: 'load' }, args: { url: 'a' }, behind });
    expect(recorder.outcomes[0]).toMatchObject({ ref: { tool: 'load' }, args: { url: 'a' }, behind });
  });

  test('refuses what lies outside of it before anybody is asked, and nothing runs', async () => {
    const source = fakeSource({ fetch: () => ok('done') });
    const { asker, questions } = askerOf({ answer: 'allow', by: 'test' });
    const { call } = bench([viewOf(FIXED)], source, { asker, policy: policyOf('ask') });
    for (const args of [{ url: 'c' }, { url: 'a', follow: true }, {}]) {
      expect((await call('load', args, { profile })).kind).toBe('invalid');
    }
    expect(questions).toEqual([]);
    expect(source.calls).toEqual([]);
  });

  test('keeps of a result what it names, and refuses one that is not as it expects', async () => {
    const tool = viewOf({ result: { keep: ['/id'] } });
    const good = bench([tool], fakeSource({ fetch: () => ok('{"id":1,"secret":2}') }));
    expect(JSON.stringify(await good.call('load', { url: 'a' }, { profile }))).not.toContain('secret');
    const bad = bench([tool], fakeSource({ fetch: () => ok('secret') }));
    const outcome = await bad.call('load', { url: 'a' }, { profile });
    expect(outcome).toMatchObject({ kind: 'failed', failure: { executed: 'executed', retryable: false } });
    expect(JSON.stringify(outcome)).not.toContain('secret');
  });

  test('that keeps fields of results shows no words of a failure', async () => {
    const failure = {
      category: 'business',
      retryable: false,
      message: 'secret',
      executed: 'executed',
      attempts: ['secret'],
      alternatives: ['secret'],
      partial: rawFrom('secret'),
    } as const;
    const { call } = bench(
      [viewOf({ result: { keep: ['/id'] } })],
      fakeSource({ fetch: () => ({ kind: 'failure', failure }) }),
    );
    const outcome = await call('load', { url: 'a' }, { profile });
    expect(outcome).toMatchObject({ kind: 'failed', failure: { category: 'business', executed: 'executed' } });
    expect(JSON.stringify(outcome)).not.toContain('secret');
  });
});

describe('a person who is asked about a view', () => {
  test('sees what the tool behind it would get, and the facts of that', async () => {
    const source = fakeSource({ fetch: () => ok('done') }, { preview: async (tool, args) => ({ tool, args }) });
    const { asker, questions } = askerOf({ answer: 'allow', by: 'test' });
    const tool = viewOf(FIXED, { preview: { kind: 'author' } });
    const { call } = bench([tool], source, { asker, policy: policyOf('ask') });
    expect(await call('load', { url: 'a' })).toMatchObject({ kind: 'ok' });
    const behind = { url: 'a', follow: false };
    expect(questions[0]).toMatchObject({ args: { url: 'a' }, behind, facts: { tool: 'fetch', args: behind } });
  });

  test('has said yes to that alone: where the view makes something else of the arguments, they are asked again', async () => {
    const choices = [{ doc: 'one' }, { doc: 'one' }, { doc: 'one' }];
    const tool = viewOf({ arguments: { url: { choices: () => choices.shift() ?? { doc: 'two' } } } });
    const source = fakeSource({ fetch: () => ok('done') });
    const { asker, questions } = askerOf({ answer: 'allow', by: 'test' });
    // The first two are used up by what comes before the question.
    choices.length = 2;
    const { call } = bench([tool], source, { asker, policy: policyOf('ask') });
    expect(await call('load', { url: 'doc' })).toMatchObject({ kind: 'ok' });
    expect(questions.map(({ behind }) => behind)).toEqual([{ url: 'one' }, { url: 'two' }]);
    expect(source.calls.map(({ args }) => args)).toEqual([{ url: 'two' }]);
  });

  test('is told which facts changed, the model only that they did, where a view keeps fields of results', async () => {
    let amount = 100;
    const source = fakeSource({ fetch: () => ok('{"id":1}') }, { preview: async () => ({ id: 1, secret: amount++ }) });
    const { asker } = askerOf({ answer: 'allow', by: 'test' });
    const tool = viewOf({ result: { keep: ['/id'] } }, { preview: { kind: 'author' } });
    const { call } = bench([tool], source, { asker, policy: policyOf('ask') });
    const outcome = await call('load', { url: 'a' });
    expect(outcome).toMatchObject({ kind: 'failed', failure: { executed: 'not_executed' } });
    expect(JSON.stringify(outcome)).not.toContain('secret');
  });

  test('changes nothing that the view refuses', async () => {
    const source = fakeSource({ fetch: () => ok('done') });
    const { asker } = askerOf({ answer: 'allow', by: 'test', args: { url: 'elsewhere' } });
    const { call } = bench([viewOf(FIXED)], source, { asker, policy: policyOf('ask') });
    expect((await call('load', { url: 'a' })).kind).toBe('denied');
    expect(source.calls).toEqual([]);
  });
});

test('a rule about the tool behind a view holds for the view', async () => {
  const source = fakeSource({ fetch: () => ok('done') });
  const policy = policyOf((_who, { ref }) => decision(ref.tool === 'fetch' ? 'deny' : 'allow'));
  const { call } = bench([viewOf(FIXED)], source, { policy });
  expect((await call('load', { url: 'a' })).kind).toBe('denied');
  expect(source.calls).toEqual([]);
});

test('hidden is what hides the tool behind it', async () => {
  const policy = {
    ...policyOf('allow'),
    view: (_: unknown, { ref }: ToolDefinition) => decision(ref.tool === 'fetch' ? 'deny' : 'allow'),
  };
  const { call } = bench([viewOf(FIXED)], fakeSource({}), { policy });
  expect((await call('load', { url: 'a' })).kind).toBe('unknown_tool');
});
