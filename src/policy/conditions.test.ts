import { describe, expect, test } from 'vitest';
import type { Identity, Json, JsonObject, Origin, PolicyCall } from '../contracts/index.ts';
import { compilePolicy } from './compile-policy.ts';
import { layer, tool, who } from './fixtures.ts';

const TOOL = tool('shop', 'refund');
const RULE = 'mcp__shop__refund';

interface Asked extends Partial<PolicyCall> {
  readonly by?: Identity;
}

/** What a rule with this condition makes of a call: as an allow rule, and as a deny rule beside a plain allow. */
async function both(when: JsonObject, asked: Asked): Promise<readonly [allow: string, deny: string]> {
  const { by = who, ...more } = asked;
  const call = { args: {}, labels: new Set<string>(), ...more };
  const effect = async (compiled: ReturnType<typeof compilePolicy>) =>
    (await compiled.policy.decide(by, TOOL, call)).effect;
  const conditional = { tool: RULE, when };
  const allow = compilePolicy([layer({ allow: [conditional] })]);
  const deny = compilePolicy([layer({ allow: [RULE], deny: [conditional] })]);
  expect([...allow.problems, ...deny.problems, ...(await allow.ready())]).toEqual([]);
  return [await effect(allow), await effect(deny)];
}

const HOLDS = ['allow', 'deny'];
const FAILS = ['ask', 'allow'];
/** What isn't known: an allow rule doesn't hold, a deny rule does. */
const UNKNOWN = ['ask', 'deny'];

describe('values', () => {
  const rows: readonly [test: Json, value: Json | undefined, result: readonly string[]][] = [
    ['EUR', 'EUR', HOLDS],
    ['EUR', 'USD', FAILS],
    ['EUR', undefined, UNKNOWN],
    ['5', 5, UNKNOWN],
    [5, '5', UNKNOWN],
    [true, true, HOLDS],
    [true, 'true', UNKNOWN],
    [null, null, HOLDS],
    [null, 'x', UNKNOWN],
    ['a', { a: 1 }, UNKNOWN],
    [['a', 'b'], 'b', HOLDS],
    [['a', 'b'], 'c', FAILS],
    [['a', 'b'], 1, UNKNOWN],
    [{ '<=': 5000 }, 5000, HOLDS],
    [{ '<=': 5000 }, 5000.01, FAILS],
    [{ '<=': 5000 }, '5000', UNKNOWN],
    [{ '<=': '5000' }, '5000.00', HOLDS],
    [{ '<=': '5000' }, '5000.000000000000000000001', FAILS],
    [{ '<=': '5000' }, '10000', FAILS],
    [{ '<=': '5000' }, '9e1', UNKNOWN],
    [{ '<=': '5000' }, ' 12', UNKNOWN],
    [{ '<=': '5000' }, 12, UNKNOWN],
    [{ '>': 0, '<': 10 }, 5, HOLDS],
    [{ '>': 0, '<': 10 }, -5, FAILS],
    [{ '>=': 1 }, Number.POSITIVE_INFINITY, UNKNOWN],
    [{ matches: '[a-z]+@example\\.com' }, 'ada@example.com', HOLDS],
    [{ matches: '[a-z]+@example\\.com' }, 'ada@example.com.evil', FAILS],
    [{ matches: '[a-z]+' }, 7, UNKNOWN],
    [{ startsWith: 'TX-' }, 'TX-1', HOLDS],
    [{ startsWith: 'TX-' }, 'tx-1', FAILS],
    [{ exists: true }, 'x', HOLDS],
    [{ exists: true }, undefined, FAILS],
    [{ exists: false }, undefined, HOLDS],
    [{ not: 'admin' }, 'user', HOLDS],
    [{ not: 'admin' }, 'admin', FAILS],
    [{ not: 'admin' }, undefined, UNKNOWN],
    [{ not: 'admin' }, 7, UNKNOWN],
    ['a', ['a', 'a'], HOLDS],
    ['a', ['b', 'c'], FAILS],
    ['a', ['a', 'b'], UNKNOWN],
    ['a', [], UNKNOWN],
    ['a', [['a']], UNKNOWN],
  ];
  test.each(rows)('%j with the value %j', async (written, value, result) => {
    const args = value === undefined ? {} : { x: value };
    expect(await both({ 'args:/x': written }, { args })).toEqual(result);
    if (value !== undefined) expect(await both({ 'facts:/x': written }, { facts: { x: value } })).toEqual(result);
  });

  test('names that objects have by themselves are not values of the arguments', async () => {
    for (const name of ['constructor', '__proto__', 'toString', 'length']) {
      expect(await both({ [`args:/${name}`]: { exists: true } }, { args: {} })).toEqual(FAILS);
    }
  });

  test('facts that nobody fetched are not known, and the decision asks for them', async () => {
    const when = { 'facts:/amount': { '<=': 5000 } };
    expect(await both(when, {})).toEqual(UNKNOWN);
    const { policy } = compilePolicy([layer({ deny: [{ tool: RULE, when }] })]);
    const call = { args: {}, labels: new Set<string>() };
    expect(await policy.decide(who, TOOL, call)).toMatchObject({ effect: 'deny', needs: ['facts'] });
    expect(await policy.decide(who, TOOL, { ...call, facts: { amount: 9000 } })).not.toHaveProperty('needs');
  });

  test('a pattern that would take exponential time elsewhere answers at once', async () => {
    expect(await both({ 'args:/x': { matches: '(a+)+b' } }, { args: { x: 'a'.repeat(50_000) } })).toEqual(FAILS);
  });
});

describe('who, labels, origins and time', () => {
  const by = (more: Partial<Identity>): Asked => ({ by: { ...who, ...more } });
  const labels = (...names: string[]): Asked => ({ labels: new Set(names) });
  const from = (origins: Record<string, Origin>, args: Json): Asked => ({
    args,
    origins: new Map(Object.entries(origins)),
  });
  const at = (iso: string): Asked => ({ at: Date.parse(iso) });
  const user: Origin = { from: 'user' };
  const crm: Origin = { from: 'result', callId: 'c', server: 'crm' };
  const nowhere: Origin = { from: 'nowhere' };
  const rows: readonly [when: JsonObject, asked: Asked, result: readonly string[]][] = [
    [{ agent: 'billing' }, by({ agent: 'billing' }), HOLDS],
    [{ agent: { matches: 'bill.*' } }, by({ agent: 'billing' }), HOLDS],
    [{ agent: 'billing' }, by({ agent: 'support' }), FAILS],
    [{ user: 'ada' }, by({ user: 'ada' }), HOLDS],
    [{ user: 'ada' }, by({}), UNKNOWN],
    [{ via: ['terminal', 'library'] }, by({}), HOLDS],
    [{ scope: 'refunds' }, by({ scopes: ['refunds', 'x'] }), HOLDS],
    [{ scope: ['a', 'refunds'] }, by({ scopes: ['x'] }), FAILS],
    [{ scope: 'refunds' }, by({}), UNKNOWN],
    [{ label: 'untrusted-content' }, labels('untrusted-content'), HOLDS],
    [{ label: 'untrusted-content' }, labels('server:crm'), FAILS],
    [{ label: 'untrusted-content' }, labels('unknown'), UNKNOWN],
    [{ 'origin:/to': 'user' }, from({ '/to': user }, { to: 'a' }), HOLDS],
    [{ 'origin:/to': ['user', 'context'] }, from({ '/to': nowhere }, { to: 'a' }), FAILS],
    [{ 'origin:/to': 'user' }, from({}, { to: 'a' }), UNKNOWN],
    [{ 'origin:/to': 'user' }, { args: { to: 'a' } }, UNKNOWN],
    [{ 'origin:/to': 'user' }, from({}, {}), UNKNOWN],
    [{ 'origin:/to': 'user' }, from({ '/to/0': user, '/to/1': user }, { to: ['a', 'b'] }), HOLDS],
    [{ 'origin:/to': 'user' }, from({ '/to/0': user, '/to/1': crm }, { to: ['a', 'b'] }), UNKNOWN],
    [{ 'origin:/to': 'user' }, from({ '/to/a': user, 'key:/to/a': user }, { to: { a: 'b' } }), HOLDS],
    [{ 'origin:/to': 'user' }, from({ '/to/a': user, 'key:/to/a': crm }, { to: { a: 'b' } }), UNKNOWN],
    [{ 'origin:/to': 'user' }, from({ 'key:/to/a': crm }, { to: { a: {} } }), FAILS],
    [{ 'origin:/to/a': 'user' }, from({ '/to/a': user, 'key:/to/a': crm }, { to: { a: 'b' } }), HOLDS],
    [{ 'origin:/to': 'result' }, from({ '/to': crm }, { to: 'a' }), HOLDS],
    [{ 'origin:/to': 'result:crm' }, from({ '/to': crm }, { to: 'a' }), HOLDS],
    [{ 'origin:/to': 'result:mail' }, from({ '/to': crm }, { to: 'a' }), FAILS],
    [{ 'origin:': ['user'] }, from({ '/a': user, '/b': user }, { a: 1, b: 2 }), HOLDS],
    [{ time: { hours: '09:00-17:00' } }, at('2026-11-30T09:00:00Z'), HOLDS],
    [{ time: { hours: '09:00-17:00' } }, at('2026-11-30T17:00:00Z'), FAILS],
    [{ time: { hours: '22:00-06:00' } }, at('2026-11-30T02:00:00Z'), HOLDS],
    [{ time: { hours: '09:00-17:00', zone: 'Asia/Tokyo' } }, at('2026-11-30T02:00:00Z'), HOLDS],
    [{ time: { weekdays: ['mon'] } }, at('2026-11-30T12:00:00Z'), HOLDS],
    [{ time: { weekdays: ['sat', 'sun'] } }, at('2026-11-30T12:00:00Z'), FAILS],
    [{ time: { before: '2026-12-01T00:00:00Z' } }, at('2026-11-30T12:00:00Z'), HOLDS],
    [{ time: { after: '2026-12-01T00:00:00+02:00' } }, at('2026-11-30T22:00:00Z'), HOLDS],
    [{ time: { before: '2026-12-01T00:00:00Z' } }, { at: Number.NaN }, UNKNOWN],
    [{ any: [{ agent: 'x' }, { agent: 'test' }] }, {}, HOLDS],
    [{ all: [{ agent: 'x' }, { agent: 'test' }] }, {}, FAILS],
    [{ any: [{ agent: 'x' }, { user: 'ada' }] }, {}, UNKNOWN],
    [{ any: [{ agent: 'test' }, { user: 'ada' }] }, {}, HOLDS],
    [{ not: { agent: 'x' } }, {}, HOLDS],
    [{ not: { user: 'ada' } }, {}, UNKNOWN],
  ];
  test.each(rows)('%j', async (when, asked, result) => {
    expect(await both(when, asked)).toEqual(result);
  });
});

describe('an origin that is not known', () => {
  const when = { 'origin:/to': 'user' };
  const rows: readonly [what: string, origins: PolicyCall['origins'], args: Json][] = [
    ['nothing is known of any argument', undefined, { to: 'eve' }],
    ['the argument could not be looked up', new Map([['/cc', { from: 'user' }]]), { to: 'eve' }],
    ['whoever keeps the conversation said null', new Map([['/to', null as never]]), { to: 'eve' }],
    ['the argument itself is null', new Map(), { to: null }],
    ['one part of the argument could not be looked up', new Map([['/to/0', { from: 'user' }]]), { to: ['ada', 'eve'] }],
    ['a key of the argument could not be looked up', new Map([['key:/to/a', null as never]]), { to: { a: 'b' } }],
    ['the argument is not there', new Map(), {}],
  ];
  test.each(rows)('lets no allow rule hold, and every ask and deny rule: %s', async (_, origins, args) => {
    const call = { args, labels: new Set<string>(), ...(origins && { origins }) };
    const effect = async (rules: Parameters<typeof layer>[0]) =>
      (await compilePolicy([layer(rules)], { mode: 'dontAsk' }).policy.decide(who, TOOL, call)).effect;
    const conditional = { tool: RULE, when };
    const negated = { tool: RULE, when: { not: when } };
    for (const rule of [conditional, negated]) {
      expect(await effect({ allow: [rule] })).toBe('deny');
      expect(await effect({ allow: [RULE], deny: [rule] })).toBe('deny');
      const asks = compilePolicy([layer({ allow: [RULE], ask: [rule] })]).policy;
      expect((await asks.decide(who, TOOL, call)).effect).toBe('ask');
    }
  });
});

describe('what is said', () => {
  const call = { args: {}, labels: new Set<string>() };

  test("the reason names the rule, its condition, its place, its author's words, and what was not known", async () => {
    const rule = { tool: RULE, when: { 'args:/amount': { '>': 50 } }, reason: 'Large refunds go by telephone.' };
    const { policy } = compilePolicy([layer({ deny: [rule] }, { lineOf: () => 7 })]);
    const [reason] = (await policy.decide(who, TOOL, call)).reasons;
    expect(reason).toMatchObject({ code: 'deny_rule', source: { file: 'bridle.json', line: 7 } });
    expect(reason?.text).toContain('args:/amount');
    expect(reason?.text).toContain('Large refunds go by telephone.');
    expect(reason?.text).toContain('not known');
  });

  test('an allow rule that names the tool but does not hold is named', async () => {
    const { policy } = compilePolicy([layer({ allow: [{ tool: RULE, when: { 'args:/amount': { '<': 50 } } }] })]);
    const decision = await policy.decide(who, TOOL, { ...call, args: { amount: 60 } });
    expect(decision).toMatchObject({ effect: 'ask', reasons: [{ code: 'allow_not_met' }] });
  });

  test('a tool whose calls end differently is shown, and the view says that it depends', () => {
    const denies = compilePolicy([layer({ allow: [RULE], deny: [{ tool: RULE, when: { 'args:/x': 1 } }] })]);
    expect(denies.policy.view(who, TOOL)).toMatchObject({ effect: 'ask', reasons: [{ code: 'depends_on_call' }] });
    const quiet = compilePolicy([layer({ allow: [{ tool: RULE, when: { 'args:/x': 1 } }] })], { mode: 'dontAsk' });
    expect(quiet.policy.view(who, TOOL).effect).toBe('ask');
  });

  test('a deny rule for one agent hides the tool from that agent only', () => {
    const { policy } = compilePolicy([layer({ allow: [RULE], deny: [{ tool: RULE, when: { agent: 'guest' } }] })]);
    expect(policy.view({ ...who, agent: 'guest' }, TOOL).effect).toBe('deny');
    expect(policy.view(who, TOOL).effect).toBe('allow');
  });

  test('rules that name no tool of the list are told, with their place', () => {
    const { unused } = compilePolicy([layer({ allow: ['mcp__shop__refnd', RULE, 'mcp__gone', 'own_tool'] })]);
    expect(unused([TOOL]).map(({ text }) => /"(.*?)"/.exec(text)?.[1])).toEqual(['mcp__shop__refnd', 'mcp__gone']);
  });
});

describe('a label', () => {
  const warned = (label: string | readonly string[], labels: readonly string[] = []) => {
    const rule = { tool: RULE, when: { any: [{ not: { label: label as string } }, { user: 'ada' }] } };
    return compilePolicy([layer({ deny: [rule] })], { labels }).problems.map(({ code, text }) => [
      code,
      /Did you mean "(.*)"/.exec(text)?.[1],
    ]);
  };

  test.each([
    ['untrusted_content', 'untrusted-content'],
    ['Untrusted-Content', 'untrusted-content'],
    ['untrustedcontnt', 'untrusted-content'],
    ['unknwon', 'unknown'],
    ['server', undefined],
    ['server:', undefined],
    ['secret', undefined],
    ['x'.repeat(4_000), undefined],
  ])('%j that no conversation is given is warned about, with the nearest that there is', (label, near) => {
    expect(warned(label)).toEqual([['rule_label', near]]);
  });

  test('that there is, or that the program gives, is not', () => {
    expect(warned(['untrusted-content', 'unknown', 'server:crm'])).toEqual([]);
    expect(warned(['secret', 'secert'], ['secret'])).toEqual([['rule_label', 'secret']]);
  });

  test('of a server that has no tool here is told with those that name no tool', () => {
    const when = { label: ['server:shpo', 'server:shop', 'untrusted-content'] };
    const { problems, unused } = compilePolicy([layer({ ask: [{ tool: RULE, when }] })]);
    expect(problems).toEqual([]);
    expect(unused([TOOL]).map(({ code, text }) => [code, /Did you mean "(.*)"/.exec(text)?.[1]])).toEqual([
      ['rule_label', 'server:shop'],
    ]);
  });
});

describe('a condition that cannot be read', () => {
  let deep: JsonObject = { agent: 'x' };
  for (let level = 0; level < 40; level += 1) deep = { not: deep };
  const rows: readonly [string, Json][] = [
    ['no object', 'x'],
    ['empty', {}],
    ['an unknown key', { amount: 5 }],
    ['an unknown operator', { 'args:/x': { '=<': 5 } }],
    ['no pointer', { 'args:x': 5 }],
    ['an unknown place', { 'env:/x': 5 }],
    ['an order of texts that are no decimals', { 'args:/x': { '<': 'b' } }],
    ['an unknown origin', { 'origin:/x': 'users' }],
    ['an unknown zone', { time: { zone: 'Mars/Base', hours: '09:00-10:00' } }],
    ['hours that are none', { time: { hours: '9-5' } }],
    ['an empty time', { time: {} }],
    ['a wrong moment', { time: { before: 'tomorrow' } }],
    ['an empty list', { 'args:/x': [] }],
    ['too deep', deep],
    ['too much', { any: Array.from({ length: 500 }, () => ({ agent: 'x' })) }],
  ];
  test.each(rows)('%s: reported; the deny covers the whole tool, the allow nothing', async (_what, when) => {
    const rule = { tool: RULE, when } as never;
    const call = { args: {}, labels: new Set<string>() };
    const denies = compilePolicy([layer({ deny: [rule] }, { lineOf: () => 3 })]);
    expect(denies.problems).toMatchObject([{ code: 'rule_condition', source: { line: 3 } }]);
    expect((await denies.policy.decide(who, TOOL, call)).effect).toBe('deny');
    const allows = compilePolicy([layer({ allow: [rule] })]);
    expect((await allows.policy.decide(who, TOOL, call)).effect).toBe('ask');
  });

  test('a rule without a tool, with an unknown key or with a pattern that is none fails closed as well', async () => {
    const codes = (rule: unknown) =>
      compilePolicy([layer({ deny: [rule as string] })]).problems.map(({ code }) => code);
    expect(codes({ when: { agent: 'x' } })).toEqual(['rule_no_tool_key']);
    expect(codes({ tool: RULE, whem: { agent: 'x' } })).toEqual(['rule_unknown_key']);
    expect(codes({ tool: RULE, reason: 5 })).toEqual(['rule_reason']);
    const broken = compilePolicy([layer({ deny: [{ tool: RULE, when: { 'args:/x': { matches: '(a' } } }] })]);
    expect((await broken.ready()).map(({ code }) => code)).toEqual(['rule_pattern']);
    const call = { args: { x: 'a' }, labels: new Set<string>() };
    expect((await broken.policy.decide(who, TOOL, call)).effect).toBe('deny');
  });
});
