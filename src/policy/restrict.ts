import type { Decision, Policy, Reason, ToolDefinition } from '../contracts/index.ts';
import { canonicalJson, isSearchTool, sha256 } from '../tools/index.ts';
import type { Rule, RuleKind } from './layer.ts';
import { MCP_PREFIX, parseRule } from './parse-rule.ts';
import { RuleSet, toolNames } from './rule-set.ts';

/**
 * A policy for somebody who has fewer tools, such as an agent with a list of its own: what isn't named is denied, to be
 * seen as to be called. It only ever takes away; what is named is decided by `policy` as before, and everything that it
 * is asked and says is passed on as it is. A view that is named may be used without the tool behind it being named too.
 *
 * @param policy says what may be done with the tools that are left
 * @param patterns names of tools as in allow rules (`mcp__server`, `mcp__server__tool`, `mcp__server__get_*`, the bare
 *   name of a tool of this process); `*` alone is all of them. What can't be read names nothing
 * @param except names as in deny rules: these are taken away again, whatever names them
 * @returns a policy whose view denies imply that it decides so, as far as that holds of `policy`
 */
export function restrict(policy: Policy, patterns: readonly string[], except: readonly string[] = []): Policy {
  const named = setOf('allow', patterns);
  const taken = setOf('deny', except);
  const version = sha256(canonicalJson({ v: 1, patterns: distinct(patterns), except: distinct(except) })).slice(0, 16);
  const versioned = (decision: Decision): Decision => ({
    ...decision,
    policyVersion: `${decision.policyVersion}+${version}`,
  });
  const denial = (tool: ToolDefinition): Reason | undefined => {
    const names = toolNames(tool);
    const inProcess = tool.ref.server === null;
    const [rule] = taken.find(names.wide, inProcess);
    if (rule) return reason('restricted_except', `It is taken away by "${rule.text}".`);
    // Whoever names a view names what it lets through of the tool behind it, and not the tool.
    const { strict } = tool.behindView ? toolNames(tool.behindView) : names;
    // Searching among the tools that are left is none that has to be named.
    if (isSearchTool(tool) || named.find(strict, inProcess).length > 0) return undefined;
    return reason('restricted', 'It is not among the tools named for this agent.');
  };
  const denied = (tool: ToolDefinition, before: () => Decision): Decision | undefined => {
    const why = denial(tool);
    if (!why) return undefined;
    const decision = before();
    // Where the policy denies it as well, its own reasons say more about what would have to change.
    const reasons = decision.effect === 'deny' ? [why, ...decision.reasons] : [why];
    return { effect: 'deny', reasons, policyVersion: decision.policyVersion };
  };
  return {
    view(who, tool) {
      const decided = () => policy.view(who, tool);
      return versioned(denied(tool, decided) ?? decided());
    },
    async decide(who, tool, call) {
      const stop = denied(tool, () => policy.view(who, tool));
      return versioned(stop ?? (await policy.decide(who, tool, call)));
    },
  };
}

/**
 * What is wrong with the names given to `restrict`, by name; for whoever wrote them.
 *
 * @param list `named` for its patterns, `except` for what is taken away
 */
export function restrictionProblems(
  list: 'named' | 'except',
  patterns: readonly string[],
): readonly { readonly pattern: string; readonly text: string }[] {
  return patterns.flatMap((pattern) => {
    if (isAll(pattern)) return [];
    const { problem } = parseRule(list === 'named' ? 'allow' : 'deny', pattern);
    return problem ? [{ pattern, text: problem.text }] : [];
  });
}

/**
 * Names given to `restrict` that none of these tools has: a slip of the pen, or a server that changed. Only those of
 * servers' tools that can be read.
 *
 * @param list as for `restrictionProblems`
 */
export function restrictionUnused(
  list: 'named' | 'except',
  patterns: readonly string[],
  tools: readonly ToolDefinition[],
): readonly string[] {
  const kind = list === 'named' ? 'allow' : 'deny';
  return patterns.filter((pattern) => {
    if (!pattern.startsWith(MCP_PREFIX) || restrictionProblems(list, [pattern]).length > 0) return false;
    const set = setOf(kind, [pattern]);
    return !tools.some((tool) => {
      const { strict, wide } = toolNames(tool);
      return set.find(kind === 'allow' ? strict : wide, tool.ref.server === null).length > 0;
    });
  });
}

function setOf(kind: RuleKind, patterns: readonly string[]): RuleSet {
  const set = new RuleSet();
  for (const pattern of patterns) {
    const rule: Rule = { kind, text: pattern, scope: 'session', source: { file: 'agent' } };
    if (isAll(pattern)) set.add(rule, { match: 'all' });
    else for (const target of parseRule(kind, pattern).targets) set.add(rule, target);
  }
  return set;
}

/** All tools are what there would be without a restriction, so here a star alone crosses servers. */
function isAll(pattern: string): boolean {
  return pattern.trim() === '*';
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort();
}

function reason(code: string, text: string): Reason {
  return { room: 'policy', code, text };
}
