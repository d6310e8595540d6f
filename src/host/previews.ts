import type { PreviewPlan } from '../contracts/index.ts';
import { wireServerPart } from '../tools/index.ts';
import type { PreviewEntry } from './bridle-json.ts';

/** A preview that configuration maps to a tool, named as in a rule: `mcp__<server>__<tool>`. */
export type PreviewMapping = Pick<PreviewEntry, 'rule' | 'plan'>;

/** The user's own mapping of a tool beats the project's. */
export function previewMappings(
  user: readonly PreviewEntry[],
  project: readonly PreviewEntry[],
): readonly PreviewMapping[] {
  const byRule = new Map<string, PreviewMapping>();
  for (const { rule, plan } of [...project, ...user]) byRule.set(rule, { rule, plan });
  return [...byRule.values()];
}

/**
 * The previews of one server's tools, by tool name as the server spells it.
 *
 * @param serverKey the server's key as configured; rules may name it or its part of a wire name
 */
export function previewsFor(mappings: readonly PreviewMapping[], serverKey: string): ReadonlyMap<string, PreviewPlan> {
  const prefixes = [`mcp__${wireServerPart(serverKey)}__`];
  // With `__` in it, a key could be read as another server and the start of its tool's name.
  if (!serverKey.includes('__')) prefixes.push(`mcp__${serverKey}__`);
  const plans = new Map<string, PreviewPlan>();
  for (const { rule, plan } of mappings) {
    for (const prefix of prefixes) {
      if (!rule.startsWith(prefix)) continue;
      const tool = plan.tool.startsWith(prefix) ? plan.tool.slice(prefix.length) : plan.tool;
      plans.set(rule.slice(prefix.length), { ...plan, tool });
    }
  }
  return plans;
}
