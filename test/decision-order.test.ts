/**
 * The order in which a call is decided: hooks, deny rules, ask rules, the mode, allow rules, the person. Each pair of them
 * is set against each other, on the one path that runs a tool.
 */
import { expect, test } from 'vitest';
import type { AskReply } from '../src/contracts/index.ts';
import { askerOf, bench, definition, fakeSource, ok } from '../src/dispatch/fixtures.ts';
import { compilePolicy, createHookSet, type HookAnswer, type Mode, withHooks } from '../src/policy/index.ts';

const STEPS = ['hooks', 'deny', 'ask', 'mode', 'allow', 'person'] as const;
type Step = (typeof STEPS)[number];

const WHO = { agent: 'tester', via: 'library' } as const;
const RULE = 'mcp__shop__refund';
const ARGS = { x: 1 };
/** `asked`: whether the person was. */
type End = { readonly end: 'ok' | 'denied'; readonly asked: boolean; readonly because?: string };
type Said = {
  readonly hooks?: NonNullable<HookAnswer['permission']>;
  readonly rules?: readonly ('deny' | 'ask' | 'allow')[];
  /** The rules are for some calls only, so the tool is seen. */
  readonly some?: true;
  readonly mode?: Mode;
  readonly person?: AskReply['answer'];
};

const YES: End = { end: 'ok', asked: true };
const NO: End = { end: 'denied', asked: true };
const RUNS: End = { end: 'ok', asked: false };
const denied = (because: string): End => ({ end: 'denied', asked: false, because });

const rows: readonly (readonly [first: Step, then: Step, what: string, said: Said, end: End])[] = [
  ['hooks', 'deny', 'a deny is given first', { hooks: 'deny', rules: ['deny'], some: true }, denied('hook_deny')],
  [
    'hooks',
    'deny',
    'none is asked about a tool that nobody sees',
    { hooks: 'deny', rules: ['deny'] },
    denied('deny_rule'),
  ],
  ['hooks', 'deny', 'an allow skips no deny rule', { hooks: 'allow', rules: ['deny'] }, denied('deny_rule')],
  [
    'hooks',
    'deny',
    'an ask softens no deny rule',
    { hooks: 'ask', rules: ['deny'], person: 'allow' },
    denied('deny_rule'),
  ],
  [
    'hooks',
    'ask',
    'a deny leaves nothing to ask',
    { hooks: 'deny', rules: ['ask'], person: 'allow' },
    denied('hook_deny'),
  ],
  ['hooks', 'ask', 'an allow skips no ask rule', { hooks: 'allow', rules: ['ask'], person: 'deny' }, NO],
  [
    'hooks',
    'mode',
    'a deny holds in a mode that allows',
    { hooks: 'deny', mode: 'bypassPermissions' },
    denied('hook_deny'),
  ],
  [
    'hooks',
    'mode',
    'an ask holds in a mode that allows',
    { hooks: 'ask', mode: 'bypassPermissions', person: 'deny' },
    NO,
  ],
  ['hooks', 'mode', 'an allow skips no mode that denies', { hooks: 'allow', mode: 'plan' }, denied('mode_plan')],
  [
    'hooks',
    'mode',
    'an allow asks nobody where nobody is asked',
    { hooks: 'allow', mode: 'dontAsk' },
    denied('no_rule'),
  ],
  ['hooks', 'allow', 'a deny holds where a rule allows', { hooks: 'deny', rules: ['allow'] }, denied('hook_deny')],
  ['hooks', 'allow', 'an ask holds where a rule allows', { hooks: 'ask', rules: ['allow'], person: 'deny' }, NO],
  ['hooks', 'person', 'a deny asks nobody', { hooks: 'deny', person: 'allow' }, denied('hook_deny')],
  [
    'hooks',
    'person',
    'an allow answers for the person where no rule names it',
    { hooks: 'allow', person: 'deny' },
    RUNS,
  ],
  ['hooks', 'person', 'an ask is put to the person', { hooks: 'ask', person: 'allow' }, YES],
  ['deny', 'ask', 'nothing is asked', { rules: ['deny', 'ask'], person: 'allow' }, denied('deny_rule')],
  ['deny', 'mode', 'also in a mode that allows', { rules: ['deny'], mode: 'bypassPermissions' }, denied('deny_rule')],
  ['deny', 'allow', 'whatever else allows it', { rules: ['deny', 'allow'] }, denied('deny_rule')],
  ['deny', 'person', 'whatever the person would say', { rules: ['deny'], person: 'allow' }, denied('deny_rule')],
  ['ask', 'mode', 'also in a mode that allows', { rules: ['ask'], mode: 'bypassPermissions', person: 'deny' }, NO],
  [
    'ask',
    'mode',
    'a mode that denies still denies',
    { rules: ['ask'], mode: 'plan', person: 'allow' },
    denied('ask_rule'),
  ],
  ['ask', 'mode', 'where nobody is asked it is a no', { rules: ['ask'], mode: 'dontAsk' }, denied('ask_rule')],
  ['ask', 'allow', 'a rule that allows does not answer it', { rules: ['ask', 'allow'], person: 'deny' }, NO],
  ['ask', 'person', 'the person answers it', { rules: ['ask'], person: 'allow' }, YES],
  [
    'mode',
    'allow',
    'a mode that denies holds where a rule allows',
    { rules: ['allow'], mode: 'plan' },
    denied('mode_plan'),
  ],
  ['mode', 'allow', 'a rule allows where nobody is asked', { rules: ['allow'], mode: 'dontAsk' }, RUNS],
  ['mode', 'person', 'a mode that allows asks nobody', { mode: 'bypassPermissions', person: 'deny' }, RUNS],
  ['mode', 'person', 'a mode that denies asks nobody', { mode: 'plan', person: 'allow' }, denied('mode_plan')],
  ['allow', 'person', 'what a rule allows is not asked about', { rules: ['allow'], person: 'deny' }, RUNS],
  ['allow', 'person', 'what no rule allows is', { person: 'deny' }, NO],
];

test.each(rows)(
  '%s before %s: %s',
  async (_first, _then, _what, { hooks, rules = [], some, mode = 'default', person }, end) => {
    const permissions = Object.fromEntries(
      rules.map((kind) => [kind, [some ? { tool: RULE, when: { 'args:/x': 1 } } : RULE]]),
    );
    const layer = { scope: 'user' as const, file: 'bridle.json', permissions, trusted: true };
    const hook = { event: 'PreToolUse' as const, name: 'a hook', run: () => ({ permission: hooks }) as HookAnswer };
    const policy = withHooks(compilePolicy([layer], { mode }).policy, await createHookSet(hooks ? [hook] : []));
    const reply = { answer: person ?? 'deny', by: 'ada' } as AskReply;
    const { asker, questions } = askerOf(reply);
    const source = fakeSource({ refund: () => ok('refunded') });
    const { call, recorder } = bench([definition('refund')], source, { policy, asker });
    const { kind } = await call('refund', ARGS);
    // A tool that no call of may run is hidden, and reads as one that isn't there.
    const happened = { end: kind === 'unknown_tool' ? 'denied' : kind, asked: questions.length > 0 };
    expect(happened).toEqual({ end: end.end, asked: end.asked });
    expect(source.calls).toHaveLength(end.end === 'ok' ? 1 : 0);
    expect(recorder.outcomes).toMatchObject([{ outcome: { kind } }]);
    const decision = await policy.decide(WHO, definition('refund'), { args: ARGS, labels: new Set() });
    if (end.because) expect(decision.reasons.map(({ code }) => code)).toContain(end.because);
  },
);

test('the table has a row for each pair of the order', () => {
  const pairs = STEPS.flatMap((first, at) => STEPS.slice(at + 1).map((then) => `${first} before ${then}`));
  expect(new Set(rows.map(([first, then]) => `${first} before ${then}`))).toEqual(new Set(pairs));
});
