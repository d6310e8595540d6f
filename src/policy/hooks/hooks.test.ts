import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Decision, Identity, JsonObject, Policy, PolicyCall, ToolDefinition } from '../../contracts/index.ts';
import { rawFrom, wireName } from '../../tools/index.ts';
import { compilePolicy } from '../compile-policy.ts';
import type { Hook, HookAnswer } from './hook.ts';
import { createHookSet, type HookRan } from './hook-set.ts';
import { withHooks } from './with-hooks.ts';

const WHO: Identity = { agent: 'tester', via: 'library' };
const NEVER = new AbortController().signal;
const server = { key: 'shop', scope: 'user' as const, fingerprint: 'f', trustAnnotations: false };
const tool: ToolDefinition = {
  ref: { server, tool: 'refund', name: wireName('shop', 'refund'), fingerprint: 'x' },
  description: 'Refunds.',
  inputSchema: { type: 'object' },
  raw: rawFrom({}),
  effect: 'write',
};
const call = (more: Partial<PolicyCall> = {}): PolicyCall => ({ args: { id: 'a' }, labels: new Set(), ...more });

function hook(
  answer: HookAnswer | (() => HookAnswer | undefined | Promise<HookAnswer>),
  more: Partial<Hook> = {},
): Hook {
  return {
    event: 'PreToolUse',
    name: 'check',
    run: () => (typeof answer === 'function' ? answer() : answer),
    ...more,
  };
}

const sameId = (input: JsonObject, id: string) => (input.tool_input as JsonObject).id === id;

const rules = (permissions: { allow?: string[]; ask?: string[]; deny?: string[] }): Policy =>
  compilePolicy([{ scope: 'user', file: 'bridle.json', trusted: true, permissions }]).policy;

async function decide(policy: Policy, hooks: readonly Hook[], more: Partial<PolicyCall> = {}): Promise<Decision> {
  return withHooks(policy, await createHookSet(hooks)).decide(WHO, tool, call(more));
}

describe('a PreToolUse hook', () => {
  const asked = rules({ ask: ['mcp__shop__refund'] });
  const allowed = rules({ allow: ['mcp__shop__refund'] });
  const denied = rules({ deny: ['mcp__shop__refund'] });
  const unnamed = rules({});

  test.each<[string, Policy, HookAnswer, Decision['effect']]>([
    ['deny', allowed, { permission: 'deny' }, 'deny'],
    ['deny', asked, { permission: 'deny' }, 'deny'],
    ['deny', unnamed, { permission: 'deny' }, 'deny'],
    ['ask', allowed, { permission: 'ask' }, 'ask'],
    ['ask', denied, { permission: 'ask' }, 'deny'],
    ['allow', unnamed, { permission: 'allow' }, 'allow'],
    ['allow', asked, { permission: 'allow' }, 'ask'],
    ['allow', denied, { permission: 'allow' }, 'deny'],
    ['nothing', allowed, {}, 'allow'],
    ['nothing', unnamed, {}, 'ask'],
  ])('that says %s can only tighten what rules say, or answer what none names', async (_, policy, answer, effect) => {
    expect((await decide(policy, [hook(answer)])).effect).toBe(effect);
  });

  test('that is one of several loses to the most restrictive', async () => {
    const answers: HookAnswer[] = [
      { permission: 'allow' },
      { permission: 'deny', reason: 'No.' },
      { permission: 'ask' },
    ];
    const decision = await decide(
      allowed,
      answers.map((answer, nth) => hook(answer, { name: `nr ${nth}` })),
    );
    expect(decision.effect).toBe('deny');
    expect(decision.reasons.map(({ code }) => code)).toEqual(['hook_allow', 'hook_deny', 'hook_ask']);
    expect(decision.reasons[1]?.text).toBe('The PreToolUse hook "nr 1" denies it: No.');
  });

  test.each<[string, () => never | Promise<HookAnswer>]>([
    [
      'throws',
      () => {
        throw new Error('boom');
      },
    ],
    ['rejects', () => Promise.reject(new Error('boom'))],
    ['never answers', () => new Promise<HookAnswer>(() => {})],
  ])('that %s denies', async (_, run) => {
    const decision = await decide(allowed, [hook(run, { timeoutMs: 20 })]);
    expect(decision).toMatchObject({ effect: 'deny', reasons: [{ code: 'hook_failed' }] });
  });

  test('changes the arguments, which are decided on again and not yet', async () => {
    const policy: Policy = { view: asked.view, decide: () => Promise.reject(new Error('too early')) };
    const decision = await decide(policy, [hook({ updatedInput: { id: 'b' } })]);
    expect(decision).toMatchObject({ effect: 'ask', input: { id: 'b' } });
    expect(await decide(allowed, [hook({ updatedInput: { id: 'a' } })])).toMatchObject({ effect: 'allow' });
  });

  test('that changes the arguments otherwise than another one denies', async () => {
    const decision = await decide(allowed, [hook({ updatedInput: { id: 'b' } }), hook({ updatedInput: { id: 'c' } })]);
    expect(decision).toMatchObject({ effect: 'deny', reasons: [{ code: 'hook_conflict' }] });
  });

  test('that wants the run to end denies the call', async () => {
    const decision = await decide(allowed, [hook({ stop: 'Out of hours.' })]);
    expect(decision).toMatchObject({ effect: 'deny', reasons: [{ text: expect.stringContaining('Out of hours.') }] });
  });

  test('is told of the call in the fields that people know', async () => {
    const inputs: JsonObject[] = [];
    const listening: Hook = { event: 'PreToolUse', name: 'log', run: (input) => void inputs.push(input) };
    const set = await createHookSet([listening], { common: () => ({ session_id: 's', cwd: '/work' }) });
    await withHooks(allowed, set).decide(WHO, tool, call({ callId: 'c1', facts: { amount: 5 } }));
    expect(inputs).toEqual([
      {
        session_id: 's',
        cwd: '/work',
        hook_event_name: 'PreToolUse',
        agent: 'tester',
        tool_name: 'mcp__shop__refund',
        tool_input: { id: 'a' },
        tool_use_id: 'c1',
        bridle_facts: { amount: 5 },
      },
    ]);
  });

  test('is asked once about a call as it is, and anew about other arguments and once its facts are known', async () => {
    let asked = 0;
    const counting = hook(() => {
      asked += 1;
      return {};
    });
    const policy = withHooks(allowed, await createHookSet([counting]));
    const decideOn = (more: Partial<PolicyCall>, signal = NEVER) => policy.decide(WHO, tool, call({ ...more, signal }));
    await decideOn({ callId: 'c1' });
    await decideOn({ callId: 'c1' });
    expect(asked).toBe(1);
    await decideOn({ callId: 'c1', facts: { amount: 1 } });
    await decideOn({ callId: 'c1', facts: { amount: 1 } });
    expect(asked).toBe(2);
    await decideOn({ callId: 'c1', args: { id: 'b' } });
    await decideOn({ callId: 'c2' });
    expect(asked).toBe(4);
  });

  test('is asked anew when another call comes under the id of one that is over', async () => {
    let left = 1;
    const scarce = hook(() => {
      left -= 1;
      return left < 0 ? { permission: 'deny' } : {};
    });
    const policy = withHooks(allowed, await createHookSet([scarce]));
    const next = () => policy.decide(WHO, tool, call({ callId: 'c1', signal: new AbortController().signal }));
    expect((await next()).effect).toBe('allow');
    expect((await next()).effect).toBe('deny');
  });

  test('that changes the arguments and wants them asked about is heard: the ask stands for what it made of them', async () => {
    const safer = hook(() => ({ permission: 'ask', reason: 'Moved.', updatedInput: { id: 'trash' } }));
    const once = { ...safer, run: (input: JsonObject) => (sameId(input, 'trash') ? {} : safer.run(input, NEVER)) };
    const policy = withHooks(allowed, await createHookSet([once]));
    const first = await policy.decide(WHO, tool, call({ callId: 'c1', signal: NEVER }));
    expect(first.input).toEqual({ id: 'trash' });
    const second = await policy.decide(WHO, tool, call({ callId: 'c1', signal: NEVER, args: { id: 'trash' } }));
    expect(second).toMatchObject({ effect: 'ask', reasons: [{ code: 'hook_ask' }, { code: 'allow_rule' }] });
  });

  test.each<[string, unknown]>([
    ['a permission in other words', { permission: 'block' }],
    ['the answer of a command', { hookSpecificOutput: { permissionDecision: 'deny' } }],
    ['a word', 'deny'],
    ['no', false],
    ['a list', [{ permission: 'deny' }]],
    ['a reason that is no text', { permission: 'allow', reason: 7 }],
    ['arguments that are a list', { updatedInput: [] }],
    ['an answer to a question without an action', { elicitation: {} }],
  ])('whose function returns %s has failed, and denies', async (_, returned) => {
    const decision = await decide(allowed, [hook(returned as HookAnswer)]);
    expect(decision).toMatchObject({ effect: 'deny', reasons: [{ code: 'hook_failed' }] });
  });

  test('is not run for a tool that nobody may see', async () => {
    const never = hook(() => {
      throw new Error('was run');
    });
    expect((await decide(denied, [never])).reasons[0]?.code).toBe('deny_rule');
  });

  test('with the key of another one is run once', async () => {
    let ran = 0;
    const same = () => hook(() => ({ ...(ran++ < 0 && {}) }), { key: 'k' });
    await decide(allowed, [same(), same()]);
    expect(ran).toBe(1);
  });
});

test('whatever hooks say, no deny and no ask of a rule is lost', async () => {
  const answer = fc.record(
    {
      permission: fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const),
      stop: fc.string(),
      context: fc.string(),
      updatedInput: fc.constant({ id: 'a' }),
    },
    { requiredKeys: [] },
  );
  const strict = { allow: 0, ask: 1, deny: 2 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(answer, { maxLength: 4 }),
      fc.constantFrom('allow', 'ask', 'deny') as fc.Arbitrary<'allow' | 'ask' | 'deny'>,
      async (answers, kind) => {
        const { effect } = await decide(
          rules({ [kind]: ['mcp__shop__refund'] }),
          answers.map((one) => hook(one)),
        );
        expect(strict[effect]).toBeGreaterThanOrEqual(strict[kind]);
      },
    ),
  );
});

describe('matchers', () => {
  const ran = async (matcher: string | undefined): Promise<boolean> => {
    const seen: HookRan[] = [];
    const one = hook({}, matcher === undefined ? {} : { matcher });
    const set = await createHookSet([one], { onRan: (how) => seen.push(how) });
    await set.run('PreToolUse', ['mcp__shop__refund'], {}, NEVER);
    return seen.length === 1;
  };

  test.each<[string | undefined, boolean]>([
    [undefined, true],
    ['', true],
    ['*', true],
    ['mcp__shop__refund', true],
    ['mcp__shop__refund|Bash', true],
    ['Bash | mcp__shop__refund', true],
    ['Bash, mcp__shop__refund', true],
    ['Bash | Read', false],
    ['mcp__shop', false],
    ['refund', false],
    ['mcp__shop__.*', true],
    ['mcp__.*__refund', true],
    ['shop.refund', false],
    ['^shop', false],
    ['Mcp__Shop__Refund', false],
  ])('%j', async (matcher, expected) => {
    expect(await ran(matcher)).toBe(expected);
  });

  test('one that can not be read is reported, and matches everything', async () => {
    const set = await createHookSet([hook({ permission: 'deny' }, { matcher: '(?=x)[' })]);
    expect(set.problems).toMatchObject([{ code: 'hook_matcher_unreadable' }]);
    expect((await set.run('PreToolUse', ['any'], {}, NEVER)).permission).toBe('deny');
  });

  test('one that can not be read says yes to nothing, and changes nothing', async () => {
    const answer = { permission: 'allow', updatedInput: { to: 'eve' }, message: 'Seen.' } as const;
    const set = await createHookSet([hook(answer, { matcher: 'mcp__shop__(?!delete).*' })]);
    const verdict = await set.run('PreToolUse', ['mcp__bank__delete'], {}, NEVER);
    expect(verdict).not.toHaveProperty('permission');
    expect(verdict).not.toHaveProperty('updatedInput');
    expect(verdict.messages).toEqual(['Seen.']);
  });
});

test('a hook that stops the run lets nothing through, though it also allows', async () => {
  const set = await createHookSet([hook({ permission: 'allow', stop: 'Enough.' })]);
  expect(await set.run('PreToolUse', ['any'], {}, NEVER)).toMatchObject({ permission: 'deny', stop: 'Enough.' });
});

test('a prompt that a hook wants asked about is not sent', async () => {
  const set = await createHookSet([hook({ permission: 'ask' }, { event: 'UserPromptSubmit' })]);
  expect((await set.run('UserPromptSubmit', [], {}, NEVER)).permission).toBe('deny');
});

test('of two answers to a question the one that gives less away counts', async () => {
  const give = hook({ elicitation: { action: 'accept', content: { pin: 1 } } }, { event: 'Elicitation' });
  const keep = hook({ elicitation: { action: 'decline' } }, { event: 'Elicitation' });
  for (const hooks of [
    [give, keep],
    [keep, give],
  ]) {
    const set = await createHookSet(hooks);
    expect((await set.run('Elicitation', ['shop'], {}, NEVER)).elicitation).toEqual({ action: 'decline' });
  }
});

test('a hook that only listens may fail without keeping anything from happening', async () => {
  const failing = hook(
    () => {
      throw new Error('boom');
    },
    { event: 'PostToolUse' },
  );
  const verdict = await (await createHookSet([failing])).run('PostToolUse', ['t'], {}, NEVER);
  expect(verdict.permission).toBeUndefined();
  expect(verdict.reasons).toMatchObject([{ code: 'hook_failed' }]);
});

test('a prompt has nothing that a matcher could look at, so its hooks run whatever theirs says', async () => {
  const run = (): HookAnswer => ({ permission: 'deny' });
  const set = await createHookSet([{ event: 'UserPromptSubmit', matcher: 'Bash|.*x', name: 'guard', run }]);
  expect(await set.run('UserPromptSubmit', [], { prompt: 'hi' }, NEVER)).toMatchObject({ permission: 'deny' });
});

test('a hook of no event is refused, as it would guard nothing', async () => {
  const slip = { event: 'PreToolUsed', name: 'guard', run: () => undefined } as unknown as Hook;
  await expect(createHookSet([slip])).rejects.toMatchObject({ code: 'hook_event_unknown' });
});
