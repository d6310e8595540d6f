import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Effect, ToolDefinition } from '../contracts/index.ts';
import { wireName } from '../tools/index.ts';
import { compilePolicy } from './compile-policy.ts';
import { layer, tool, who } from './fixtures.ts';
import type { Permissions } from './layer.ts';
import { MODES } from './mode.ts';
import { ruleFor } from './rule-set.ts';

const call = { args: {}, labels: new Set<string>() };

function effectOf(permissions: Permissions, definition: ToolDefinition, mode?: string) {
  return compilePolicy([layer(permissions)], mode === undefined ? {} : { mode }).policy.view(who, definition).effect;
}

const codes = (permissions: Permissions) => compilePolicy([layer(permissions)]).problems.map(({ code }) => code);

describe('which tools a rule names', () => {
  const rows: readonly [rule: string, server: string | null, name: string, names: boolean][] = [
    ['mcp__fs__read_file', 'fs', 'read_file', true],
    ['mcp__fs__read_file', 'fs', 'read_file2', false],
    ['mcp__fs__read_file', 'fs', 'Read_File', false],
    ['mcp__fs__read_file', 'FS', 'read_file', false],
    ['mcp__fs__read_file', null, 'read_file', false],
    ['mcp__fs__*', 'fs', 'anything.at all', true],
    ['mcp__fs__*', 'fs2', 'read', false],
    ['mcp__fs__get_*', 'fs', 'get_x', true],
    ['mcp__fs__get_*', 'fs', 'set_x', false],
    ['mcp__fs__*_file', 'fs', 'read_file', true],
    ['mcp__fs', 'fs', 'read', true],
    ['mcp__fs', 'fs2', 'read', false],
    ['mcp__a__b__c', 'a', 'b__c', true],
    ['mcp__a__b__c', 'a__b', 'c', false],
    ['mcp__a__*', 'a__b', 'c', false],
    ['mcp__jira__issue.get', 'jira', 'issue.get', true],
    ['mcp__jira__issue_get', 'jira', 'issue.get', false],
    [wireName('jira', 'issue.get'), 'jira', 'issue.get', true],
    ['mcp__my server__get', 'my server', 'get', true],
    ['mcp__claude.ai Gmail__*', 'claude.ai Gmail', 'send', true],
    [wireName('my server', 'get'), 'my server', 'get', true],
    ['mcp__fs__constructor', 'fs', 'constructor', true],
    ['mcp____proto____x', '__proto__', 'x', false],
    [wireName('__proto__', 'x'), '__proto__', 'x', true],
    ['get_order', null, 'get_order', true],
    ['get_order', 'shop', 'get_order', false],
    ['get_*', null, 'get_order', true],
    ['get_*', 'shop', 'get_order', false],
    ['*_order', 'shop', 'get_order', false],
    ['mcp__fs__read', null, 'mcp__fs__read', false],
  ];
  test.each(rows)('allow %s for server %s, tool %s: %s', (rule, server, name, names) => {
    expect(effectOf({ allow: [rule] }, tool(server, name))).toBe(names ? 'allow' : 'ask');
  });

  test('a deny by the configured key holds even where the key cannot be told from another server and tool', () => {
    expect(effectOf({ deny: ['mcp__a__b__c'] }, tool('a__b', 'c'))).toBe('deny');
    expect(effectOf({ deny: ['mcp____proto____x'] }, tool('__proto__', 'x'))).toBe('deny');
    expect(effectOf({ deny: ['mcp__fs__*'] }, tool(null, 'mcp__fs__read'))).toBe('deny');
  });

  test('a rule with underscores in place of other characters, as other hosts write it, denies but allows nothing', () => {
    const definition = tool('claude.ai Gmail', 'send.mail');
    for (const rule of ['mcp__claude_ai_Gmail__send_mail', 'mcp__claude_ai_Gmail__*', 'mcp__claude_ai_Gmail']) {
      expect(effectOf({ deny: [rule] }, definition)).toBe('deny');
      expect(effectOf({ allow: [rule] }, definition)).toBe('ask');
    }
  });

  test("a tool of this process that is called like a server's is allowed by its own name only", () => {
    const poser = tool(null, 'mcp__fs__read');
    expect(ruleFor(poser)).toBe(wireName(null, 'mcp__fs__read'));
    expect(effectOf({ allow: [ruleFor(poser)] }, poser)).toBe('allow');
    expect(effectOf({ allow: [ruleFor(poser)] }, tool('fs', 'read'))).toBe('ask');
  });

  test('the rule suggested for a tool can be copied from a terminal and typed into a shell', () => {
    for (const name of ["x' 'y", 'a"b', 'a\u200bb', 'a\nb', '$(id)', 'ä']) {
      expect(ruleFor(tool('fs', name))).toBe(wireName('fs', name));
      expect(effectOf({ allow: [ruleFor(tool('fs', name))] }, tool('fs', name))).toBe('allow');
    }
    expect(ruleFor(tool('jira', 'issue.get'))).toBe('mcp__jira__issue.get');
  });

  test('the rule suggested for a tool names that tool and no other', () => {
    const name = fc.string({
      unit: fc.constantFrom('a', 'B', '_', '-', '.', '*', '(', ' ', 'é'),
      minLength: 1,
      maxLength: 80,
    });
    const one = fc.tuple(fc.option(name), name).map(([server, text]) => tool(server, text));
    fc.assert(
      fc.property(one, one, (first, second) => {
        fc.pre(!(first.ref.server === null && /[\s*(]/.test(first.ref.tool)));
        const { policy, problems } = compilePolicy([layer({ allow: [ruleFor(first)] })]);
        expect(problems).toEqual([]);
        expect(policy.view(who, first).effect).toBe('allow');
        const same = first.ref.name === second.ref.name;
        if (!same) expect(policy.view(who, second).effect).toBe('ask');
      }),
    );
  });
});

describe('order', () => {
  const write = tool('shop', 'refund');
  const rule = 'mcp__shop__refund';

  test('deny beats ask, ask beats allow, and without a rule the person is asked', () => {
    expect(effectOf({ deny: [rule], ask: [rule], allow: [rule] }, write)).toBe('deny');
    expect(effectOf({ ask: ['mcp__shop'], allow: [rule] }, write)).toBe('ask');
    expect(effectOf({ allow: [rule] }, write)).toBe('allow');
    expect(effectOf({}, write)).toBe('ask');
  });

  test('the reason names the rule, its file and its line', () => {
    const from = layer({ deny: ['x', rule] }, { file: '/p/bridle.json', lineOf: (_kind, index) => 10 + index });
    const { reasons } = compilePolicy([from]).policy.view(who, write);
    expect(reasons).toHaveLength(1);
    expect(reasons[0]?.text).toContain('"mcp__shop__refund"');
    expect(reasons[0]?.source).toEqual({ file: '/p/bridle.json', line: 11 });
  });

  test('denies of all layers add up and no other layer loosens them', () => {
    const layers = [
      layer({ allow: [rule] }, { scope: 'managed' }),
      layer({ deny: [rule] }, { scope: 'project', trusted: false }),
      layer({ allow: [rule] }, { scope: 'session' }),
    ];
    expect(compilePolicy(layers, { mode: 'bypassPermissions' }).policy.view(who, write).effect).toBe('deny');
  });

  test('an untrusted layer gives deny and ask rules only, and says that its allow rules wait', () => {
    const untrusted = { trusted: false, scope: 'project' as const };
    const { policy, problems } = compilePolicy([layer({ allow: [rule], ask: ['mcp__a__b'] }, untrusted)], {
      mode: 'bypassPermissions',
    });
    expect(problems.map(({ code }) => code)).toEqual(['allow_untrusted']);
    expect(policy.view(who, tool('a', 'b')).effect).toBe('ask');
    const plain = compilePolicy([layer({ allow: [rule] }, untrusted)]);
    expect(plain.policy.view(who, write).effect).toBe('ask');
  });
});

describe('modes', () => {
  const rule = 'mcp__shop__refund';
  const rows: readonly [mode: string, list: keyof Permissions | null, effect: Effect, expected: string][] = [
    ['default', null, 'read', 'ask'],
    ['default', 'allow', 'write', 'allow'],
    ['acceptEdits', null, 'write', 'ask'],
    ['plan', null, 'read', 'ask'],
    ['plan', 'allow', 'read', 'allow'],
    ['plan', 'allow', 'write', 'deny'],
    ['plan', 'allow', 'idempotent', 'deny'],
    ['plan', 'ask', 'write', 'deny'],
    ['dontAsk', null, 'read', 'deny'],
    ['dontAsk', 'ask', 'read', 'deny'],
    ['dontAsk', 'allow', 'write', 'allow'],
    ['bypassPermissions', null, 'write', 'allow'],
    ['bypassPermissions', 'ask', 'write', 'ask'],
    ['bypassPermissions', 'deny', 'read', 'deny'],
    ['yolo', null, 'write', 'ask'],
  ];
  test.each(rows)('in %s with a %s rule a tool with effect %s is settled as %s', (mode, list, effect, expected) => {
    const permissions = list === null ? {} : { [list]: [rule] };
    expect(effectOf(permissions, tool('shop', 'refund', effect), mode)).toBe(expected);
  });

  test('a mode that means nothing yet and a mode that does not exist are reported', () => {
    expect(compilePolicy([], { mode: 'acceptEdits' }).problems[0]?.code).toBe('mode_without_meaning');
    const unknown = compilePolicy([], { mode: 'yolo' });
    expect(unknown.problems[0]?.code).toBe('mode_unknown');
    expect(unknown.mode).toBe('default');
  });
});

describe('invalid rules are reported and fail closed', () => {
  const rows: readonly [rule: string, code: string, server: string | null, name: string][] = [
    ['mcp__*', 'rule_wide', 'fs', 'read'],
    ['mcp__*__read', 'rule_wide', 'fs', 'read'],
    ['mcp__f*', 'rule_wide', 'fs', 'read'],
    ['mcp__', 'rule_no_server', 'fs', 'read'],
    ['mcp__fs__', 'rule_no_tool', 'fs', 'read'],
    ['mcp__fs__read(path: *)', 'rule_condition', 'fs', 'read'],
    ['mcp__fs__*(path: *)', 'rule_condition', 'fs', 'read'],
    ['mcp__fs(path: *)', 'rule_condition', 'fs', 'read'],
    ['Bash(npm run *)', 'rule_without_meaning', null, 'Bash'],
    ['Read(./secrets/**)', 'rule_without_meaning', null, 'Read'],
    ['Bash(rm', 'rule_without_meaning', null, 'Bash'],
  ];
  test.each(rows)('%s', (rule, code, server, name) => {
    const named = tool(server, name);
    expect(codes({ deny: [rule] })).toEqual([code]);
    expect(effectOf({ deny: [rule] }, named)).toBe('deny');
    expect(effectOf({ ask: [rule] }, named, 'bypassPermissions')).toBe('ask');
    expect(codes({ allow: [rule] })).toEqual([code]);
    expect(effectOf({ allow: [rule] }, named)).toBe('ask');
    expect(effectOf({ deny: [rule] }, tool('other', 'tool'))).toBe(
      /^mcp__(\*|$)/.test(rule) && !rule.includes('read') ? 'deny' : 'ask',
    );
  });

  test.each([
    ['*delete*', []],
    ['*', []],
    ['m*', []],
    ['mcp*', ['rule_wide']],
    ['mcp_*', ['rule_wide']],
    ['MCP__*', ['rule_case']],
  ] as const)("deny %s covers what it matches by its whole name, a server's tools too", (rule, problems) => {
    expect(codes({ deny: [rule] })).toEqual(problems);
    expect(effectOf({ deny: [rule] }, tool('fs', 'delete_file'))).toBe('deny');
    expect(effectOf({ ask: [rule] }, tool('fs', 'delete_file'), 'bypassPermissions')).toBe('ask');
    expect(effectOf({ allow: [rule] }, tool('fs', 'delete_file'))).toBe('ask');
  });

  test('a star alone is refused in allow with the reason, and covers everything in deny and ask', () => {
    expect(codes({ allow: ['*'] })).toEqual(['allow_everything']);
    expect(effectOf({ allow: ['*'] }, tool('fs', 'read'))).toBe('ask');
    expect(effectOf({ allow: ['*'] }, tool(null, 'read'))).toBe('ask');
    expect(codes({ deny: ['*'] })).toEqual([]);
    expect(effectOf({ deny: ['*'] }, tool('fs', 'read'))).toBe('deny');
    expect(effectOf({ ask: ['*'] }, tool(null, 'read'), 'bypassPermissions')).toBe('ask');
  });

  test('an entry that is not text, an empty one and a misspelt prefix are reported and the rest counts', () => {
    const odd = JSON.parse('[42, null, "", "MCP__fs__read", "mcp__fs__read"]') as string[];
    expect(codes({ allow: odd })).toEqual(['rule_not_text', 'rule_not_text', 'rule_empty', 'rule_case']);
    expect(effectOf({ allow: odd }, tool('fs', 'read'))).toBe('allow');
  });
});

describe('the compiled set', () => {
  const part = fc.constantFrom('a', 'b', 'a__b', 'get_x', 'get.x', '*', 'g*', '__proto__', 'constructor', 'my s', '');
  const ruleText = fc.oneof(
    fc.tuple(part, part).map(([server, name]) => `mcp__${server}__${name}`),
    part,
    part.map((server) => `mcp__${server}`),
    part.map((name) => `${name}(x)`),
    fc.string({ maxLength: 12 }),
  );
  const permissions = fc.record({
    allow: fc.array(ruleText, { maxLength: 4 }),
    ask: fc.array(ruleText, { maxLength: 3 }),
    deny: fc.array(ruleText, { maxLength: 3 }),
  });
  const anyTool = fc
    .tuple(fc.option(part), part, fc.constantFrom<Effect>('read', 'idempotent', 'write'))
    .map(([server, name, effect]) => tool(server, name, effect));
  const layers = fc.array(
    fc.tuple(permissions, fc.boolean()).map(([rules, trusted]) => layer(rules, { trusted })),
    { maxLength: 3 },
  );
  const mode = fc.constantFrom(...MODES, 'unknown');

  test('what the view denies the decision denies, for all rules, tools, modes and arguments', async () => {
    await fc.assert(
      fc.asyncProperty(layers, mode, anyTool, fc.jsonValue(), async (rules, chosen, definition, args) => {
        const { policy } = compilePolicy(rules, { mode: chosen });
        const view = policy.view(who, definition);
        const decision = await policy.decide(who, { ...definition }, { ...call, args: args as never });
        if (view.effect === 'deny') expect(decision.effect).toBe('deny');
        expect(view.reasons.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });

  test('another layer with deny and ask rules only never loosens a decision', () => {
    const rank = { allow: 0, ask: 1, deny: 2 };
    fc.assert(
      fc.property(layers, permissions, mode, anyTool, (rules, extra, chosen, definition) => {
        const before = compilePolicy(rules, { mode: chosen }).policy.view(who, definition).effect;
        const added = layer(extra, { trusted: false });
        const after = compilePolicy([...rules, added], { mode: chosen }).policy.view(who, definition).effect;
        expect(rank[after]).toBeGreaterThanOrEqual(rank[before]);
      }),
      { numRuns: 500 },
    );
  });

  test('the version is the same for the same rules in another order, and changes with a rule or the mode', () => {
    const version = (rules: Permissions, chosen?: string) =>
      compilePolicy([layer(rules)], chosen === undefined ? {} : { mode: chosen }).version;
    expect(version({ allow: ['a', 'b'] })).toBe(version({ allow: ['b', 'a'] }));
    expect(version({ allow: ['a'] })).not.toBe(version({ deny: ['a'] }));
    expect(version({ allow: ['a'] })).not.toBe(version({ allow: ['a'] }, 'plan'));
  });
});
