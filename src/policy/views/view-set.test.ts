import { describe, expect, test } from 'vitest';
import type { JsonObject, Policy, ToolDefinition, ToolListing } from '../../contracts/index.ts';
import { rawFrom } from '../../tools/index.ts';
import { compilePolicy } from '../compile-policy.ts';
import { layer, tool } from '../fixtures.ts';
import { applyView } from './apply-view.ts';
import { ADA, fetchTool, made } from './fixtures.ts';
import { parseView } from './parse-view.ts';
import { view } from './view.ts';
import { reviewOf } from './view-pins.ts';
import { createViewSet } from './view-set.ts';
import { withViews } from './with-views.ts';

const LOAD = view({ name: 'load', server: 'web', tool: 'fetch', arguments: { follow: { fixed: false } } });

function listing(...tools: ToolDefinition[]): ToolListing {
  return { tools, setAside: [] };
}

function outcome({ tools, setAside }: ToolListing) {
  return { tools: tools.map(({ ref }) => ref.tool), aside: setAside.map(({ reasons }) => reasons[0]?.code) };
}

describe('a listing with views', () => {
  test('has the view in place of the tool', () => {
    const shown = createViewSet([LOAD]).apply('web', listing(tool('web', 'a'), fetchTool(), tool('web', 'b')));
    expect(outcome(shown)).toEqual({ tools: ['a', 'load', 'b'], aside: [] });
  });
  test('has both where every view of the tool says so', () => {
    const kept = view({ name: 'load', server: 'web', tool: 'fetch', keep: true });
    const other = view({ name: 'other', server: 'web', tool: 'fetch' });
    expect(outcome(createViewSet([kept]).apply('web', listing(fetchTool()))).tools).toEqual(['fetch', 'load']);
    expect(outcome(createViewSet([kept, other]).apply('web', listing(fetchTool()))).tools).toEqual(['load', 'other']);
  });
  test('leaves other servers alone', () => {
    const other = listing({ ...tool('other', 'fetch') });
    expect(createViewSet([LOAD]).apply('other', other)).toBe(other);
  });
  const codes: readonly [string, ReturnType<typeof parseView>, string][] = [
    ['that is broken', parseView('load', { server: 'web', tool: 'fetch', odd: 1 }), 'view_invalid'],
    ['that does not fit', view({ ...OPTIONS(), arguments: { nothing: { fixed: 1 } } }), 'view_does_not_fit'],
    ["that would take another tool's name", view({ ...OPTIONS(), name: 'a' }), 'view_name_taken'],
    ['reviewed against another definition', view({ ...OPTIONS(), upstream: '0'.repeat(64) }), 'view_upstream_changed'],
  ];
  test.each(codes)('sets a view aside %s, and keeps its tool hidden', (_, one, code) => {
    expect(outcome(createViewSet([one]).apply('web', listing(tool('web', 'a'), fetchTool())))).toEqual({
      tools: ['a'],
      aside: [code],
    });
  });
  test('says of a view what came of the tool that is used, where a server names two alike', () => {
    const twice = createViewSet([LOAD]);
    const shown = twice.apply('web', listing(fetchTool(), tool('web', 'fetch')));
    expect(shown.tools.map(({ ref }) => ref.tool)).toEqual(['load']);
    expect(shown.setAside.map(({ reasons }) => reasons[0]?.code)).toEqual(['view_name_taken']);
    const outcome = twice.outcome(LOAD);
    expect([outcome?.of.description, outcome?.why]).toEqual(['Fetches anything.', undefined]);
    const changed = view({ ...OPTIONS(), name: 'load', upstream: '0'.repeat(64) });
    const refused = createViewSet([changed]);
    refused.apply('web', listing(fetchTool(), tool('web', 'fetch')));
    expect(refused.outcome(changed)?.why?.code).toBe('view_upstream_changed');
    expect(refused.outcome(changed)?.of.description).toBe('Fetches anything.');
  });
  test('names views without a tool and without a server', () => {
    const set = createViewSet([LOAD]);
    const codes = (...asked: Parameters<typeof set.without>) =>
      set.without(...asked).map(({ reasons }) => reasons[0]?.code);
    set.apply('web', listing());
    expect(codes(['other'], ['other'])).toEqual(['view_without_server']);
    expect(codes(['web'], [])).toEqual([]);
    expect(codes(['web'], ['web'])).toEqual(['view_without_tool']);
    set.apply('web', listing(fetchTool()));
    expect(codes(['web'], ['web'])).toEqual([]);
  });
  test('stops a view when the tool changes after it was met, until it is accepted', () => {
    const accepted = new Map<string, string>();
    const pins = {
      accepted: () => [...accepted.values()],
      met: (_: unknown, of: ToolDefinition) => void accepted.set('load', reviewOf(of).fingerprint),
    };
    const set = createViewSet([LOAD], { pins });
    const changed = { ...fetchTool(), raw: rawFrom({ name: 'fetch', description: 'Now it does more.' }) };
    expect(outcome(set.apply('web', listing(fetchTool()))).tools).toEqual(['load']);
    expect(outcome(set.apply('web', listing(changed)))).toEqual({ tools: [], aside: ['view_upstream_changed'] });
    accepted.set('load', reviewOf(changed).fingerprint);
    expect(outcome(set.apply('web', listing(changed))).tools).toEqual(['load']);
  });
});

function OPTIONS() {
  return { name: 'load', server: 'web', tool: 'fetch' };
}

describe('rules', () => {
  const viewed = made(applyView(fetchTool(), LOAD)).tool;
  const rows: readonly [string, Parameters<typeof layer>[0], 'allow' | 'ask' | 'deny'][] = [
    ['both names are allowed', { allow: ['mcp__web__load', 'mcp__web__fetch'] }, 'allow'],
    ['only the view is allowed', { allow: ['mcp__web__load'] }, 'ask'],
    ['only the tool is allowed', { allow: ['mcp__web__fetch'] }, 'ask'],
    ['the tool is denied', { allow: ['mcp__web__*'], deny: ['mcp__web__fetch'] }, 'deny'],
    ['the view is denied', { allow: ['mcp__web__*'], deny: ['mcp__web__load'] }, 'deny'],
    [
      'what the tool would get is denied',
      { allow: ['mcp__web__*'], deny: [{ tool: 'mcp__web__fetch', when: { 'args:/follow': false } }] },
      'deny',
    ],
  ];
  test.each(rows)('where %s, the call comes to that', async (_, permissions, effect) => {
    const compiled = compilePolicy([layer(permissions)]);
    expect(compiled.problems).toEqual([]);
    const policy = withViews(compiled.policy);
    const decided = await policy.decide(ADA, viewed, { args: { url: 'x' }, labels: new Set() });
    expect(decided.effect).toBe(effect);
    if (policy.view(ADA, viewed).effect === 'deny') expect(effect).toBe('deny');
  });
  test('a policy that gives the arguments back as they are does not go around what it says of the tool', async () => {
    const { policy } = compilePolicy([layer({ allow: ['mcp__web__load'] })]);
    const echoing: Policy = {
      view: policy.view,
      decide: async (who, one, call) => {
        const decided = await policy.decide(who, one, call);
        return one.narrows ? { ...decided, input: { ...(call.args as JsonObject) } } : decided;
      },
    };
    const unsaid = { args: { url: 'y' }, labels: new Set<string>() };
    expect((await withViews(echoing).decide(ADA, viewed, unsaid)).effect).toBe('ask');
  });
  test('arguments that the view refuses are denied', async () => {
    const { policy } = compilePolicy([layer({ allow: ['mcp__web__*'] })]);
    const call = { args: { url: 'x', follow: true }, labels: new Set<string>() };
    expect((await withViews(policy).decide(ADA, viewed, call)).effect).toBe('deny');
  });
});
