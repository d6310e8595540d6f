import { describe, expect, test } from 'vitest';
import type { Asker, Json, Outcome, PreviewPlan, SourceResult } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import { askerOf, bench, decision, definition, fakeSource, manualClock, never, ok, policyOf } from './fixtures.ts';
import { refuseAsker } from './refuse-asker.ts';

const REFUND = definition('refund');
const AUTHORED = definition('refund', { preview: { kind: 'author' } });
const YES = { answer: 'allow', by: 'Ada' } as const;

function texts(outcome: Outcome): string {
  if ('failure' in outcome) return outcome.failure.message;
  return 'reasons' in outcome ? outcome.reasons.map(({ text }) => text).join('\n') : '';
}

/** Asks about the refund, allows everything else. */
const askRefund = () => policyOf((_who, tool) => decision(tool.ref.tool === 'refund' ? 'ask' : 'allow', 'of_a_test'));

function structured(value: Json): SourceResult {
  return { kind: 'result', raw: rawFrom({ content: [], structuredContent: value }), isError: false };
}

describe('asking', () => {
  test('a yes runs the call, and both records say who said it', async () => {
    const source = fakeSource({ refund: () => ok('refunded') });
    const { asker, questions } = askerOf(YES);
    const { call, recorder } = bench([REFUND], source, { policy: askRefund(), asker });
    expect(await call('refund', { transaction: 'T-1' })).toMatchObject({ kind: 'ok', content: 'refunded' });
    expect(questions).toMatchObject([{ callId: 'call-1', args: { transaction: 'T-1' }, decision: { effect: 'ask' } }]);
    expect(recorder.intents[0]).toMatchObject({ asked: YES });
    expect(recorder.outcomes[0]).toMatchObject({ asked: YES });
  });

  test('a no denies the call, with the words of the one who said it', async () => {
    const source = fakeSource({ refund: () => ok('refunded') });
    const { asker } = askerOf({ answer: 'deny', by: 'Ada', reason: 'Wrong customer.' });
    const { call, recorder } = bench([REFUND], source, { policy: askRefund(), asker });
    const outcome = await call('refund');
    expect(outcome.kind).toBe('denied');
    expect(texts(outcome)).toContain('Wrong customer.');
    expect(source.calls).toEqual([]);
    expect(recorder.intents).toEqual([]);
    expect(recorder.outcomes[0]?.asked).toMatchObject({ answer: 'deny' });
  });

  test('where nobody can be asked, the refusal says so, and how to allow the call', async () => {
    const { call } = bench([REFUND], fakeSource({}), { policy: askRefund(), asker: refuseAsker() });
    const outcome = await call('refund');
    expect(outcome.kind).toBe('denied');
    expect(texts(outcome)).toContain('nobody could be asked');
    expect(texts(outcome)).toContain("--allow 'mcp__shop__refund'");
    expect(texts(outcome)).toContain('bridle.json');
  });

  test('a parked question ends the call as parked, with the approval to wait for', async () => {
    const { asker } = askerOf({ answer: 'parked', approval: 'A-7' });
    const { call } = bench([REFUND], fakeSource({}), { policy: askRefund(), asker });
    expect(await call('refund')).toMatchObject({ kind: 'parked', approval: 'A-7' });
  });

  test.each([
    ['throws', () => Promise.reject(new Error('terminal gone'))],
    ['answers nonsense', async () => 'yes' as never],
    ['answers nothing', async () => undefined as never],
  ])('an asker that %s denies', async (_how, ask) => {
    const source = fakeSource({ refund: () => ok('refunded') });
    const { call } = bench([REFUND], source, { policy: askRefund(), asker: { ask } });
    expect((await call('refund')).kind).toBe('denied');
    expect(source.calls).toEqual([]);
  });

  test('cancelling the call takes the question back', async () => {
    const cancel = new AbortController();
    let seen: AbortSignal | undefined;
    const asker = {
      ask: ({ signal }: { signal: AbortSignal }) => {
        seen = signal;
        queueMicrotask(() => cancel.abort('the user left'));
        return never<never>();
      },
    };
    const clock = manualClock();
    const { call } = bench([REFUND], fakeSource({}), { policy: askRefund(), asker, clock });
    const outcome = await clock.until(call('refund', {}, { ctx: { signal: cancel.signal } }));
    expect(outcome).toMatchObject({ kind: 'cancelled', failure: { executed: 'not_executed' } });
    expect(texts(outcome)).toContain('the user left');
    expect(seen?.aborted).toBe(true);
  });

  test('the policy is asked again after a yes, and its denial stands', async () => {
    let decided = 0;
    const policy = policyOf(() => decision(++decided === 1 ? 'ask' : 'deny'));
    const source = fakeSource({ refund: () => ok('refunded') });
    const { call } = bench([REFUND], source, { policy, asker: askerOf(YES).asker });
    expect((await call('refund')).kind).toBe('denied');
    expect(source.calls).toEqual([]);
  });

  test('arguments that the approver changed are decided on again, and are those that run', async () => {
    const seen: Json[] = [];
    const policy = policyOf((_who, _tool, { args }) => {
      seen.push(args);
      return decision('ask');
    });
    const source = fakeSource({ refund: () => ok('refunded') });
    const { asker, questions } = askerOf({ ...YES, args: { transaction: 'T-2' } });
    const { call, recorder } = bench([REFUND], source, { policy, asker });
    await call('refund', { transaction: 'T-1' });
    expect(seen).toEqual([{ transaction: 'T-1' }, { transaction: 'T-2' }]);
    expect(questions).toHaveLength(1);
    expect(source.calls[0]?.args).toEqual({ transaction: 'T-2' });
    const recorded = { args: { transaction: 'T-2' }, proposed: { transaction: 'T-1' } };
    expect([recorder.intents, recorder.outcomes]).toMatchObject([[recorded], [recorded]]);
  });

  test('a tool that is another one by the time of the yes is not run', async () => {
    const changed = { ...REFUND, ref: { ...REFUND.ref, fingerprint: 'of another definition' } };
    const source = fakeSource({ refund: () => ok('refunded') });
    const other = fakeSource({ refund: () => ok('refunded') });
    const laterFinds = [{ tool: changed, source }, { tool: REFUND, source: other }, undefined];
    for (const later of laterFinds) {
      let asked = false;
      const asker: Asker = {
        async ask() {
          asked = true;
          return YES;
        },
      };
      const find = () => (asked ? later : { tool: REFUND, source });
      const outcome = await bench([REFUND], source, { policy: askRefund(), asker, find }).call('refund');
      expect(outcome).toMatchObject({ kind: 'failed', failure: { executed: 'not_executed', retryable: false } });
      expect(texts(outcome)).toContain('is not the one that was approved any more');
    }
    expect([...source.calls, ...other.calls]).toEqual([]);
  });

  test('arguments that the approver changed to something that does not fit are denied', async () => {
    const tool = definition('refund', { inputSchema: { type: 'object', required: ['transaction'] } });
    const source = fakeSource({ refund: () => ok('refunded') });
    for (const args of [{}, [1], 'T-2']) {
      const { asker } = askerOf({ ...YES, args: args as Json });
      const { call } = bench([tool], source, { policy: askRefund(), asker });
      expect((await call('refund', { transaction: 'T-1' })).kind).toBe('denied');
    }
    expect(source.calls).toEqual([]);
  });
});

describe("facts from the author's preview", () => {
  test('the one who is asked sees them, the policy too, and the intent is bound to them', async () => {
    const facts: (Json | undefined)[] = [];
    const policy = policyOf((_who, _tool, call) => {
      facts.push(call.facts);
      return decision('ask');
    });
    const source = fakeSource({ refund: () => ok('refunded') }, { preview: async () => ({ amount: 12 }) });
    const { asker, questions } = askerOf(YES);
    const { call, recorder } = bench([AUTHORED], source, { policy, asker });
    expect((await call('refund')).kind).toBe('ok');
    expect(questions[0]?.facts).toEqual({ amount: 12 });
    expect(facts).toEqual([undefined, { amount: 12 }, { amount: 12 }]);
    expect(recorder.intents[0]).toMatchObject({ facts: { amount: 12 } });
    expect(recorder.intents[0]?.factsDigest).toMatch(/^[0-9a-f]{64}$/);
  });

  test('no preview runs for a call that is allowed anyway', async () => {
    let previews = 0;
    const preview = async () => ++previews;
    const source = fakeSource({ refund: () => ok('refunded') }, { preview });
    await bench([AUTHORED], source).call('refund');
    expect(previews).toBe(0);
  });

  test('facts that changed between question and call stop the call, with both values', async () => {
    let amount = 10;
    const preview = async () => ({ amount: ++amount });
    const source = fakeSource({ refund: () => ok('refunded') }, { preview });
    const { call } = bench([AUTHORED], source, { policy: askRefund(), asker: askerOf(YES).asker });
    const outcome = await call('refund');
    expect(outcome).toMatchObject({ kind: 'failed', failure: { executed: 'not_executed' } });
    expect(texts(outcome)).toContain('{"amount":11}');
    expect(texts(outcome)).toContain('{"amount":12}');
    expect(source.calls).toEqual([]);
  });

  test('the order of members is no change', async () => {
    let turn = 0;
    const preview = async (): Promise<Json> => (++turn % 2 ? { a: 1, b: 2 } : { b: 2, a: 1 });
    const source = fakeSource({ refund: () => ok('refunded') }, { preview });
    const { call } = bench([AUTHORED], source, { policy: askRefund(), asker: askerOf(YES).asker });
    expect((await call('refund')).kind).toBe('ok');
  });

  test('facts that can not be had again stop the call', async () => {
    let turn = 0;
    const preview = async () => {
      if (++turn > 1) throw new Error('backend down');
      return { amount: 1 };
    };
    const source = fakeSource({ refund: () => ok('refunded') }, { preview });
    const { call } = bench([AUTHORED], source, { policy: askRefund(), asker: askerOf(YES).asker });
    const outcome = await call('refund');
    expect(outcome).toMatchObject({ kind: 'failed', failure: { executed: 'not_executed' } });
    expect(texts(outcome)).toContain('backend down');
  });

  test.each([
    ['throws', async () => Promise.reject(new Error('backend down')), /backend down/],
    ['gives nothing', async () => undefined as never, /no data/],
    ['gives more than anyone reads', async () => 'x'.repeat(100_000), /more than can be shown/],
    ['never answers', () => never<Json>(), /limit of 10000 ms/],
  ])('where the preview %s, the question says why there are no facts', async (_how, preview, why) => {
    const clock = manualClock();
    const source = fakeSource({ refund: () => ok('refunded') }, { preview });
    const { asker, questions } = askerOf(YES);
    const { call } = bench([AUTHORED], source, { policy: askRefund(), asker, clock });
    expect((await clock.until(call('refund'))).kind).toBe('ok');
    expect(questions[0]).not.toHaveProperty('facts');
    expect(questions[0]?.factsMissing).toMatch(why);
  });

  test('arguments that the approver changed have facts of their own, and are asked about with them', async () => {
    const preview = async (_tool: string, args: Json) => ({ of: (args as { t: string }).t });
    const source = fakeSource({ refund: () => ok('refunded') }, { preview });
    const { asker, questions } = askerOf({ ...YES, args: { t: 'T-2' } }, YES);
    const { call, recorder } = bench([AUTHORED], source, { policy: askRefund(), asker });
    expect((await call('refund', { t: 'T-1' })).kind).toBe('ok');
    expect(questions.map(({ facts }) => facts)).toEqual([{ of: 'T-1' }, { of: 'T-2' }]);
    expect(recorder.intents[0]).toMatchObject({ args: { t: 'T-2' }, facts: { of: 'T-2' } });
  });

  test('arguments that the approver changed and that have no facts are asked about without them', async () => {
    const preview = async (_tool: string, args: Json) => {
      if ((args as { t: string }).t === 'T-2') throw new Error('no such transaction');
      return { amount: 5 };
    };
    const source = fakeSource({ refund: () => ok('refunded') }, { preview });
    const { asker, questions } = askerOf({ ...YES, args: { t: 'T-2' } }, { answer: 'deny', by: 'Ada' });
    const { call } = bench([AUTHORED], source, { policy: askRefund(), asker });
    expect((await call('refund', { t: 'T-1' })).kind).toBe('denied');
    expect(questions[1]?.factsMissing).toContain('no such transaction');
    expect(source.calls).toEqual([]);
  });

  test('a policy may decide on the facts, without a person', async () => {
    const policy = policyOf((_who, _tool, { facts }) => {
      if (facts === undefined) return decision('ask');
      return decision((facts as { amount: number }).amount < 50 ? 'allow' : 'deny');
    });
    const run = (amount: number) =>
      bench([AUTHORED], fakeSource({ refund: () => ok('refunded') }, { preview: async () => ({ amount }) }), {
        policy,
      }).call('refund');
    expect((await run(10)).kind).toBe('ok');
    expect((await run(90)).kind).toBe('denied');
  });
});

describe('facts from another tool of the same server', () => {
  const plan: PreviewPlan = { kind: 'tool', tool: 'look', arguments: { id: '/target/0/id' }, by: 'server' };
  const previewed = (more: Partial<Extract<PreviewPlan, { kind: 'tool' }>> = {}) =>
    definition('refund', { preview: { ...plan, ...more } });
  const look = definition('look', { effect: 'read' });
  const args = { target: [{ id: 'T-1' }] };

  async function run(
    tools: Parameters<typeof bench>[0],
    answer: () => SourceResult = () => structured({ amount: 5 }),
    policy = askRefund(),
  ) {
    const source = fakeSource({ refund: () => ok('refunded'), look: answer });
    const { asker, questions } = askerOf(YES);
    const { call, recorder } = bench(tools, source, { policy, asker });
    const outcome = await call('refund', args);
    return { outcome, source, question: questions[0], recorder };
  }

  test('it is called with arguments taken from this call, on the same path, with a record of its own', async () => {
    const { outcome, source, question, recorder } = await run([previewed(), look]);
    expect(outcome.kind).toBe('ok');
    expect(question?.facts).toEqual({ amount: 5 });
    expect(source.calls.map(({ tool, args: given }) => [tool, given])).toEqual([
      ['look', { id: 'T-1' }],
      ['look', { id: 'T-1' }],
      ['refund', args],
    ]);
    expect(recorder.outcomes.map(({ callId }) => callId)).toEqual(['call-1.preview', 'call-1.preview2', 'call-1']);
  });

  test.each([
    ['structured content', () => structured({ amount: 5 }), { amount: 5 }],
    ['text that is JSON', () => ok('{"amount":6}'), { amount: 6 }],
    ['plain text', () => ok('six euros'), 'six euros'],
  ])('%s becomes the facts', async (_what, answer, facts) => {
    expect((await run([previewed(), look], answer)).question?.facts).toEqual(facts);
  });

  test.each([
    ['is not there', [previewed()], undefined, /not among the tools/],
    ['is a tool that may write', [previewed(), definition('look')], undefined, /only read/],
    [
      'answers with an error',
      [previewed(), look],
      () => ({ ...ok('no such id'), isError: true }) as SourceResult,
      /no such id/,
    ],
    ['answers nothing', [previewed(), look], () => ok(''), /without data/],
    [
      'needs what the call does not have',
      [previewed({ arguments: { id: '/target/1/id' } }), look],
      undefined,
      /\/target\/1\/id/,
    ],
    [
      'finds its arguments wrong',
      [previewed(), definition('look', { effect: 'read', inputSchema: { type: 'object', required: ['x'] } })],
      undefined,
      /\/x/,
    ],
  ])('where it %s, the question says so', async (_how, tools, answer, why) => {
    const { question, outcome } = await run(tools, answer);
    expect(question).not.toHaveProperty('facts');
    expect(question?.factsMissing).toMatch(why);
    expect(outcome.kind).toBe('ok');
  });

  test('a tool that may write is called where the configuration maps it', async () => {
    const { question } = await run([previewed({ by: 'config' }), definition('look')]);
    expect(question?.facts).toEqual({ amount: 5 });
  });

  test('a tool that may write is not called because a mode allows everything', async () => {
    const policy = policyOf((_who, tool) =>
      decision(tool.ref.tool === 'refund' ? 'ask' : 'allow', 'mode_bypassPermissions'),
    );
    const { question, source } = await run([previewed(), definition('look')], undefined, policy);
    expect(question?.factsMissing).toMatch(/only read/);
    expect(source.calls.map(({ tool }) => tool)).toEqual(['refund']);
  });

  test('a tool that may write is called where a rule allows it by name', async () => {
    const policy = policyOf((_who, tool) =>
      tool.ref.tool === 'refund' ? decision('ask') : decision('allow', 'allow_rule'),
    );
    expect((await run([previewed(), definition('look')], undefined, policy)).question?.facts).toEqual({ amount: 5 });
  });

  test('a tool that would itself be asked about is never called for a preview, and nobody is asked about it', async () => {
    const { question, source, recorder } = await run([previewed(), look], undefined, policyOf('ask'));
    expect(question?.tool.ref.tool).toBe('refund');
    expect(question?.factsMissing).toMatch(/without a question/);
    expect(source.calls.map(({ tool }) => tool)).toEqual(['refund']);
    expect(recorder.outcomes).toMatchObject([{ outcome: { kind: 'denied' } }, { outcome: { kind: 'ok' } }]);
  });

  test('a tool of another server under the same name gives no facts', async () => {
    const other = { ...SERVER_TWO, key: 'shop' };
    const foreign = definition('look', { effect: 'read' }, other);
    const source = fakeSource({ refund: () => ok('refunded') });
    const stranger = fakeSource({ look: () => structured({ amount: 0 }) }, { server: other });
    const { asker, questions } = askerOf(YES);
    const find = (name: string) => {
      if (name === foreign.ref.name) return { tool: foreign, source: stranger };
      return { tool: previewed(), source };
    };
    const { call } = bench([], source, { find, policy: askRefund(), asker });
    await call('refund', args);
    expect(questions[0]?.factsMissing).toMatch(/not among the tools of the same server/);
    expect(stranger.calls).toEqual([]);
  });
});

const SERVER_TWO = { key: 'two', scope: 'user', fingerprint: '2'.repeat(64), trustAnnotations: true } as const;
