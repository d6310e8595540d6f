import type { Reason, ToolDefinition } from '../contracts/index.ts';
import { RULE_KINDS, type Rule, type RuleKind } from './layer.ts';
import { MCP_PREFIX } from './parse-rule.ts';
import { type RuleSet, toolNames } from './rule-set.ts';

/**
 * Rules that name none of the tools. Only those that name a server's: a rule for this process's own tools may be meant
 * for another program.
 *
 * @param rules those of the sets that were read without a problem
 */
export function rulesWithoutTools(
  sets: Readonly<Record<RuleKind, RuleSet>>,
  rules: readonly Rule[],
  tools: readonly ToolDefinition[],
): readonly Reason[] {
  const used = new Set<Rule>();
  for (const tool of tools) {
    const { strict, wide } = toolNames(tool);
    for (const kind of RULE_KINDS) {
      const naming = sets[kind].naming(kind === 'allow' ? strict : wide, tool.ref.server === null);
      for (const rule of naming) used.add(rule);
    }
  }
  return rules.filter((rule) => rule.text.startsWith(MCP_PREFIX) && !used.has(rule)).map(withoutTool);
}

function withoutTool({ kind, text, source }: Rule): Reason {
  const what = `The ${kind} rule "${text}" names no tool that is here.`;
  const advice = "'bridle tools list' shows the names.";
  return { room: 'policy', code: 'rule_without_tool', text: `${what} ${advice}`, source };
}
