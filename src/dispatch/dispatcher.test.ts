import { describe, expect, test } from 'vitest';
import type { Outcome, SourceResult } from '../contracts/index.ts';
import { canonicalJson, sha256, ToolFailure } from '../tools/index.ts';
import { bench, decision, definition, fakeSource, ok, policyOf } from './fixtures.ts';

const ORDER = definition('get_order', {
  inputSchema: {
    type: 'object',
    properties: { order: { type: 'string' }, limit: { type: 'integer', minimum: 1 } },
    required: ['order'],
    additionalProperties: false,
  },
});
const shop = () => fakeSource({ get_order: () => ok('shipped') });

function texts(outcome: Outcome): string {
  return 'reasons' in outcome ? outcome.reasons.map(({ text }) => text).join('\n') : '';
}

describe('finding a tool', () => {
  test('a call that fits and is allowed runs, and its result is shaped for a model', async () => {
    const source = shop();
    const { call } = bench([ORDER], source);
    const outcome = await call('get_order', { order: 'O-1' });
    expect(outcome).toMatchObject({ kind: 'ok', isError: false, content: 'shipped' });
    expect(source.calls).toMatchObject([{ tool: 'get_order', args: { order: 'O-1' } }]);
  });

  test('a tool that may not be seen answers in the words of one that does not exist', async () => {
    const policy = { ...policyOf('allow'), view: () => decision('deny') };
    const hidden = bench([ORDER], shop(), { policy });
    const absent = bench([], shop());
    const a = await hidden.call('get_order', { order: 'O-1' });
    const b = await absent.call('get_order', { order: 'O-1' });
    expect(a).toEqual(b);
    expect(a.kind).toBe('unknown_tool');
    expect(hidden.recorder.outcomes[0]).toMatchObject({ decision: { effect: 'deny' }, ref: { tool: 'get_order' } });
    expect(absent.recorder.outcomes[0]?.decision).toBeUndefined();
  });

  test('a tool that may not be seen says nothing of its schema, or of arguments that are not JSON', async () => {
    const policy = { ...policyOf('allow'), view: () => decision('deny') };
    const hidden = bench([ORDER], shop(), { policy });
    const absent = bench([], shop());
    for (const args of [{ wrong: 1 }, '{"order":', '[1]']) {
      expect(await hidden.call('get_order', args)).toEqual(await absent.call('get_order', args));
    }
  });

  test('a view that throws hides the tool, and the record says why', async () => {
    const view = () => {
      throw new Error('no rules loaded');
    };
    const { call, recorder } = bench([ORDER], shop(), { policy: { ...policyOf('allow'), view } });
    expect((await call('get_order', { order: 'O-1' })).kind).toBe('unknown_tool');
    expect(recorder.outcomes[0]?.decision?.reasons[0]).toMatchObject({ code: 'policy_failed' });
  });

  test.each(['constructor', '__proto__', 'toString'])(
    'a tool named %s that does not exist is unknown',
    async (name) => {
      expect((await bench([], shop()).call('', {}, { name })).kind).toBe('unknown_tool');
    },
  );
});

describe('arguments', () => {
  test('each wrong field is named with what was expected', async () => {
    const { call } = bench([ORDER], shop());
    const outcome = await call('get_order', { limit: 'three', colour: 1 });
    expect(outcome.kind).toBe('invalid');
    expect(texts(outcome)).toContain('/order');
    expect(texts(outcome)).toContain('/limit: expected integer');
    expect(texts(outcome)).toContain('/colour');
  });

  test('arguments that are not an object are invalid in both profiles', async () => {
    for (const profile of ['agent', 'relay'] as const) {
      for (const args of ['[1]', 'null', '"text"', '3']) {
        const outcome = await bench([ORDER], shop()).call('get_order', args, { profile });
        expect(outcome.kind).toBe('invalid');
        expect(texts(outcome)).toContain('JSON object');
      }
    }
  });

  test('arguments that are not JSON are invalid, with the place', async () => {
    const outcome = await bench([ORDER], shop()).call('get_order', '{"order": O-1}');
    expect(outcome.kind).toBe('invalid');
    expect(texts(outcome)).toMatch(/character 10/);
  });

  test('arguments that are empty are said to be empty', async () => {
    expect(texts(await bench([ORDER], shop()).call('get_order', ''))).toContain('empty');
  });

  test('the relay leaves the schema to the server', async () => {
    const source = shop();
    const outcome = await bench([ORDER], source).call('get_order', { limit: 'three' }, { profile: 'relay' });
    expect(outcome).toMatchObject({ kind: 'ok' });
    expect(outcome).not.toHaveProperty('content');
    expect(source.calls).toHaveLength(1);
  });

  test('an input schema that can not be used means that the call is not run', async () => {
    const source = shop();
    const tool = definition('get_order', { inputSchema: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } });
    const outcome = await bench([tool], source).call('get_order', {});
    expect(outcome).toMatchObject({ kind: 'failed', failure: { executed: 'not_executed', category: 'validation' } });
    expect(source.calls).toHaveLength(0);
  });

  test('what a policy does to the arguments it is shown changes nothing for the source', async () => {
    const source = shop();
    const policy = policyOf((_who, _tool, { args }) => {
      Object.assign(args as object, { order: 'O-666' });
      return decision('allow');
    });
    await bench([ORDER], source, { policy }).call('get_order', { order: 'O-1' });
    expect(source.calls[0]?.args).toEqual({ order: 'O-1' });
  });

  test('of a member that stands twice, the source gets the one that policy saw', async () => {
    const source = shop();
    const seen: unknown[] = [];
    const policy = policyOf((_who, _tool, { args }) => {
      seen.push(args);
      return decision('allow');
    });
    await bench([ORDER], source, { policy }).call('get_order', '{"order":"O-1","order":"O-2"}');
    expect(source.calls[0]?.args).toEqual({ order: 'O-2' });
    expect(seen).toEqual([{ order: 'O-2' }]);
  });
});

describe('deciding', () => {
  test('a denial carries the reasons of the decision', async () => {
    const source = shop();
    const outcome = await bench([ORDER], source, { policy: policyOf('deny') }).call('get_order', { order: 'O-1' });
    expect(outcome).toEqual({ kind: 'denied', reasons: decision('deny').reasons });
    expect(source.calls).toHaveLength(0);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('broken rule');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken rule'))],
    ['answers nonsense', () => ({ effect: 'perhaps' }) as never],
  ])('a policy that %s denies', async (_how, decide) => {
    const source = shop();
    const outcome = await bench([ORDER], source, { policy: policyOf(decide) }).call('get_order', { order: 'O-1' });
    expect(outcome).toMatchObject({ kind: 'denied', reasons: [{ code: 'policy_failed' }] });
    expect(source.calls).toHaveLength(0);
  });

  test('arguments that a hook changed are decided on again, and are those that run', async () => {
    const source = shop();
    const seen: unknown[] = [];
    const policy = policyOf((_who, _tool, { args }) => {
      seen.push(args);
      return canonicalJson(args).includes('O-2')
        ? decision('allow')
        : { ...decision('allow'), input: { order: 'O-2' } };
    });
    const { call, recorder } = bench([ORDER], source, { policy });
    expect((await call('get_order', { order: 'O-1' })).kind).toBe('ok');
    expect(seen).toEqual([{ order: 'O-1' }, { order: 'O-2' }]);
    expect(source.calls[0]?.args).toEqual({ order: 'O-2' });
    expect(recorder.outcomes[0]).toMatchObject({ args: { order: 'O-2' }, proposed: { order: 'O-1' } });
    await call('get_order', { order: 'O-2' });
    expect(recorder.outcomes[1]).not.toHaveProperty('proposed');
  });

  test('arguments that a hook changed and that no longer fit are denied', async () => {
    const source = shop();
    const policy = policyOf(() => ({ ...decision('allow'), input: { limit: 0 } }));
    const outcome = await bench([ORDER], source, { policy }).call('get_order', { order: 'O-1' });
    expect(outcome).toMatchObject({ kind: 'denied', reasons: [{ code: 'changed_arguments_invalid' }, {}, {}] });
    expect(source.calls).toHaveLength(0);
  });

  test('a hook that never stops changing the arguments ends as a denial', async () => {
    let n = 0;
    const policy = policyOf(() => ({ ...decision('allow'), input: { order: `O-${++n + 1}` } }));
    const outcome = await bench([ORDER], shop(), { policy }).call('get_order', { order: 'O-1' });
    expect(outcome).toMatchObject({ kind: 'denied', reasons: [{ code: 'decision_not_settled' }] });
    expect(n).toBe(4);
  });
});

describe('the record', () => {
  test('the intent is recorded before the source is called', async () => {
    const order: string[] = [];
    const source = fakeSource({
      get_order: () => {
        order.push('run');
        return ok('done');
      },
    });
    const recorder = {
      intent: async () => {
        await Promise.resolve();
        order.push('intent');
      },
      outcome: () => {
        order.push('outcome');
      },
    };
    await bench([ORDER], source, { recorder }).call('get_order', { order: 'O-1' });
    expect(order).toEqual(['intent', 'run', 'outcome']);
  });

  test('the intent says who calls what with which arguments, and why it may', async () => {
    const { call, recorder } = bench([ORDER], shop());
    await call('get_order', { order: 'O-1' });
    expect(recorder.intents).toMatchObject([
      {
        callId: 'call-1',
        conversation: 'c1',
        who: { agent: 'tester' },
        ref: { tool: 'get_order' },
        effect: 'write',
        args: { order: 'O-1' },
        argsDigest: sha256(canonicalJson({ order: 'O-1' })),
        decision: { effect: 'allow' },
      },
    ]);
  });

  test('a call whose intent can not be recorded is not run', async () => {
    const source = shop();
    const outcomes: unknown[] = [];
    const recorder = {
      intent: () => Promise.reject(new Error('disk full')),
      outcome: (record: unknown) => void outcomes.push(record),
    };
    const outcome = await bench([ORDER], source, { recorder }).call('get_order', { order: 'O-1' });
    expect(outcome).toMatchObject({ kind: 'failed', failure: { executed: 'not_executed' } });
    expect(outcome.kind === 'failed' && outcome.failure.message).toContain('disk full');
    expect(source.calls).toHaveLength(0);
    expect(outcomes).toHaveLength(1);
  });

  test('a recorder that throws on the outcome does not change the answer', async () => {
    const recorder = {
      intent: async () => {},
      outcome: () => {
        throw new Error('gone');
      },
    };
    expect((await bench([ORDER], shop(), { recorder }).call('get_order', { order: 'O-1' })).kind).toBe('ok');
  });

  test('a call that did not run leaves a record too', async () => {
    const { call, recorder } = bench([ORDER], shop());
    await call('nothing', { a: 1 });
    expect(recorder.intents).toEqual([]);
    expect(recorder.outcomes).toMatchObject([{ name: 'mcp__shop__nothing', args: { a: 1 }, attempts: 0 }]);
  });
});

describe('what a source answers', () => {
  const run = (answer: () => SourceResult) =>
    bench([ORDER], fakeSource({ get_order: answer })).call('get_order', { order: 'O-1' });

  test('a failure is passed on as it is', async () => {
    const failure = {
      category: 'business',
      retryable: false,
      message: 'Too late.',
      executed: 'not_executed',
      attempts: [],
    } as const;
    expect(await run(() => ({ kind: 'failure', failure }))).toEqual({ kind: 'failed', failure });
  });

  test('a result that is an error is an answer, marked as such', async () => {
    const outcome = await run(() => ({ ...ok('no such order'), isError: true }) as SourceResult);
    expect(outcome).toMatchObject({ kind: 'ok', isError: true, content: 'no such order' });
  });

  test('a source that throws although it should not has failed, with an unknown effect', async () => {
    const outcome = await run(() => {
      throw new Error('socket closed');
    });
    expect(outcome).toMatchObject({ kind: 'failed', failure: { executed: 'unknown', retryable: false } });
    expect(outcome.kind === 'failed' && outcome.failure.message).toContain('socket closed');
  });

  test('a failure that a source throws is taken at its word', async () => {
    const outcome = await run(() => {
      throw new ToolFailure('Closed on Sundays.', { alternatives: ['Monday'] });
    });
    expect(outcome).toMatchObject({ kind: 'failed', failure: { category: 'business', alternatives: ['Monday'] } });
  });

  test.each([undefined, null, 3, {}, { kind: 'result' }, { kind: 'failure' }, { kind: 'other' }])(
    'the answer %j is a failure with an unknown effect',
    async (answer) => {
      expect(await run(() => answer as never)).toMatchObject({ kind: 'failed', failure: { executed: 'unknown' } });
    },
  );

  test('a question back is passed on with its state', async () => {
    const requests = { text: '[{"method":"elicitation/create"}]', parse: () => [] };
    expect(await run(() => ({ kind: 'input_required', requests, state: 's' }))).toEqual({
      kind: 'input_required',
      requests,
      state: 's',
    });
  });
});
