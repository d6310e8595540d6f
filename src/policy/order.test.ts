import { expect, test } from 'vitest';
import { compilePolicy } from './compile-policy.ts';
import { layer, tool, who } from './fixtures.ts';
import type { Permissions, RuleKind } from './layer.ts';

/**
 * The design's order: deny rules, ask rules, the mode, allow rules, the person. Each row sets one step against another;
 * the step that is named first decides. Rules with and without a condition stand alike in it.
 */
const RULE = 'mcp__shop__refund';
const WHEN = { tool: RULE, when: { 'args:/x': 1 } };
const rows: readonly [steps: string, kinds: readonly RuleKind[], mode: string, effect: 'allow' | 'ask' | 'deny'][] = [
  ['deny before ask', ['deny', 'ask'], 'default', 'deny'],
  ['deny before a mode that allows', ['deny'], 'bypassPermissions', 'deny'],
  ['deny before allow', ['deny', 'allow'], 'default', 'deny'],
  ['deny before the person', ['deny'], 'default', 'deny'],
  ['ask before a mode that allows', ['ask'], 'bypassPermissions', 'ask'],
  ['ask before allow', ['ask', 'allow'], 'default', 'ask'],
  ['ask before allow, also in a mode that allows', ['ask', 'allow'], 'bypassPermissions', 'ask'],
  ['a mode that denies before ask', ['ask'], 'plan', 'deny'],
  ['a mode that denies what is asked', ['ask', 'allow'], 'dontAsk', 'deny'],
  ['a mode that denies before allow', ['allow'], 'plan', 'deny'],
  ['a mode that allows before the person', [], 'bypassPermissions', 'allow'],
  ['allow before the person', ['allow'], 'default', 'allow'],
  ['allow before the person, also where nobody is asked', ['allow'], 'dontAsk', 'allow'],
  ['the person last', [], 'default', 'ask'],
  ['nobody is asked', [], 'dontAsk', 'deny'],
];
test.each(rows)('%s', async (_steps, kinds, mode, effect) => {
  // Each way of writing each of the rules, with a condition that holds or without one.
  for (let ways = 0; ways < 2 ** kinds.length; ways += 1) {
    const permissions: Permissions = Object.fromEntries(
      kinds.map((kind, at) => [kind, [(ways >> at) % 2 === 0 ? RULE : WHEN]]),
    );
    const { policy } = compilePolicy([layer(permissions)], { mode });
    const call = { args: { x: 1 }, labels: new Set<string>() };
    expect((await policy.decide(who, tool('shop', 'refund'), call)).effect).toBe(effect);
  }
});
