import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Decision, Effect, Narrowing, Policy, ToolDefinition } from '../contracts/index.ts';
import { searchTool } from '../tools/index.ts';
import { compilePolicy } from './compile-policy.ts';
import { layer, tool, who } from './fixtures.ts';
import { MODES } from './mode.ts';
import { restrict, restrictionProblems } from './restrict.ts';
import { withViews } from './views/index.ts';

const call = { args: {}, labels: new Set<string>() };
const all = compilePolicy([], { mode: 'bypassPermissions' }).policy;

describe('a restriction', () => {
  const effect = (patterns: readonly string[], ...of: Parameters<typeof tool>) =>
    restrict(all, patterns).view(who, tool(...of)).effect;

  test.each([
    [['mcp__fs__read'], 'fs', 'read', 'allow'],
    [['mcp__fs__read'], 'fs', 'write', 'deny'],
    [['mcp__fs'], 'fs', 'write', 'allow'],
    [['mcp__fs__*'], 'fs', 'write', 'allow'],
    [['mcp__fs__r*'], 'fs', 'write', 'deny'],
    [['mcp__*__read'], 'fs', 'read', 'deny'],
    [['read'], 'fs', 'read', 'deny'],
    [['*'], 'fs', 'read', 'allow'],
    [[], 'fs', 'read', 'deny'],
    [['Bash(ls:*)'], null, 'Bash', 'deny'],
    [['lookup'], null, 'lookup', 'allow'],
  ] as const)('to %j leaves of %s/%s: %s', (patterns, server, name, expected) => {
    expect(effect(patterns, server, name)).toBe(expected);
  });

  test('leaves the search among the tools that are left, unless it is taken away; a tool of its name is none', () => {
    const finder = searchTool(() => false);
    expect(restrict(all, ['mcp__fs']).view(who, finder).effect).toBe('allow');
    expect(restrict(all, ['mcp__fs'], ['find_tools']).view(who, finder).effect).toBe('deny');
    expect(effect(['mcp__fs'], null, 'find_tools')).toBe('deny');
  });

  test('takes away again what is excepted, and says why either is missing', () => {
    const policy = restrict(all, ['mcp__fs'], ['mcp__*__delete', 'mcp__fs__w*']);
    const said = (name: string) => policy.view(who, tool('fs', name)).reasons.map(({ code }) => code);
    expect(said('read')).toEqual(['mode_bypassPermissions']);
    expect(said('delete')).toEqual(['restricted_except']);
    expect(said('write')).toEqual(['restricted_except']);
    expect(policy.view(who, tool('git', 'log')).reasons.map(({ code }) => code)).toEqual(['restricted']);
  });

  test('lets a view that is named through to the tool behind it, and nobody else', async () => {
    const behind = tool('web', 'fetch', 'write');
    const narrows: Narrowing = {
      of: behind,
      summary: [],
      passed: new Set(),
      arguments: async (args) => ({ args }),
    };
    const view: ToolDefinition = { ...tool('web', 'load'), narrows };
    const said = async (patterns: readonly string[], except: readonly string[], of: ToolDefinition) => {
      const policy = withViews(restrict(all, patterns, except));
      return [policy.view(who, of).effect, (await policy.decide(who, of, call)).effect];
    };
    expect(await said(['mcp__web__load'], [], view)).toEqual(['allow', 'allow']);
    expect(await said(['mcp__web__load'], [], behind)).toEqual(['deny', 'deny']);
    expect(await said(['mcp__web__fetch'], [], view)).toEqual(['deny', 'deny']);
    expect(await said(['mcp__web__load'], ['mcp__web__fetch'], view)).toEqual(['deny', 'deny']);
  });

  test('reports names that can not be read', () => {
    expect(restrictionProblems('named', ['mcp__fs', '*', 'mcp__*', 'Read(x)']).map(({ pattern }) => pattern)).toEqual([
      'mcp__*',
      'Read(x)',
    ]);
    expect(restrictionProblems('except', ['*', ''])).toHaveLength(1);
  });

  test('passes on whatever the policy is asked and answers, also what it does not know', async () => {
    const asked: unknown[] = [];
    const decision = { effect: 'ask', reasons: [], policyVersion: '7', input: { a: 1 }, later: 'kept' } as const;
    const inner: Policy = {
      view: () => decision,
      decide: (...given) => {
        asked.push(given);
        return decision;
      },
    };
    const definition = tool('fs', 'read');
    const full = { ...call, facts: { amount: 5 }, later: 'kept' };
    const { policyVersion, ...rest } = await restrict(inner, ['mcp__fs']).decide(who, definition, full);
    expect(rest).toEqual({ effect: 'ask', reasons: [], input: { a: 1 }, later: 'kept' });
    expect(policyVersion).toMatch(/^7\+/);
    expect(asked).toEqual([[who, definition, full]]);
  });

  test('another list has another version, the same in another order the same one', () => {
    const version = (patterns: readonly string[], except: readonly string[] = []) =>
      restrict(all, patterns, except).view(who, tool('fs', 'read')).policyVersion;
    expect(version(['a', 'b'])).toBe(version(['b', 'a']));
    expect(version(['a'])).not.toBe(version(['a'], ['b']));
  });

  const part = fc.constantFrom('a', 'b', 'a__b', 'get_x', 'g*', '*', '__proto__', 'my s', '');
  const pattern = fc.oneof(
    fc.tuple(part, part).map(([server, name]) => `mcp__${server}__${name}`),
    part,
    part.map((server) => `mcp__${server}`),
    fc.string({ maxLength: 8 }),
  );
  const patterns = fc.array(pattern, { maxLength: 4 });
  const anyTool = fc
    .tuple(fc.option(part), part, fc.constantFrom<Effect>('read', 'idempotent', 'write'))
    .map(([server, name, effects]) => tool(server, name, effects));

  test('what its view denies it denies, and it never loosens, for all lists, rules, modes and tools', async () => {
    const rank: Record<Decision['effect'], number> = { allow: 0, ask: 1, deny: 2 };
    await fc.assert(
      fc.asyncProperty(
        patterns,
        patterns,
        patterns,
        fc.constantFrom(...MODES),
        anyTool,
        fc.jsonValue(),
        async (named, except, rules, mode, definition, args) => {
          const { policy } = compilePolicy([layer({ allow: rules, deny: except.slice(1) })], { mode });
          const restricted = restrict(policy, named, except);
          const view = restricted.view(who, definition);
          const decision = await restricted.decide(who, definition, { ...call, args: args as never });
          if (view.effect === 'deny') expect(decision.effect).toBe('deny');
          expect(rank[view.effect]).toBeGreaterThanOrEqual(rank[policy.view(who, definition).effect]);
          expect(rank[decision.effect]).toBeGreaterThanOrEqual(rank[policy.view(who, definition).effect]);
        },
      ),
      { numRuns: 500 },
    );
  });
});
