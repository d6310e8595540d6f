import type { Decision, Policy, Reason, ToolDefinition } from '../contracts/index.ts';
import { canonicalJson, sha256 } from '../tools/index.ts';
import { type PolicyLayer, RULE_KINDS, type Rule, type RuleKind } from './layer.ts';
import { isMode, MODES, type Mode, modeAnswer } from './mode.ts';
import { parseRule } from './parse-rule.ts';
import { RuleSet, ruleFor, toolNames } from './rule-set.ts';

export interface CompiledPolicy {
  readonly policy: Policy;
  /** What is wrong with the rules or the mode; nothing in here loosens anything. */
  readonly problems: readonly Reason[];
  /** The mode in force. */
  readonly mode: Mode;
  /** Hash over mode and rules: equal versions decide equally. */
  readonly version: string;
}

/**
 * Compiles rules into a policy. Never throws: what is invalid is reported and fails closed.
 *
 * The order of a decision: deny rules, ask rules, the mode, allow rules, then the person. Neither the mode nor an allow
 * rule loosens what an ask rule says; a tool that nothing names is asked about.
 *
 * @param layers where rules come from; denies and asks of all add up
 * @param options `mode` is the user's choice, never a project file's; an unknown one is reported and works as `default`
 */
export function compilePolicy(
  layers: readonly PolicyLayer[],
  options: { readonly mode?: string } = {},
): CompiledPolicy {
  const problems: Reason[] = [];
  const mode = readMode(options.mode, problems);
  const sets: Record<RuleKind, RuleSet> = { deny: new RuleSet(), ask: new RuleSet(), allow: new RuleSet() };
  const compiled: Rule[] = [];
  for (const layer of layers) {
    for (const kind of RULE_KINDS) {
      const written = layer.permissions[kind] ?? [];
      if (kind === 'allow' && !layer.trusted) {
        if (written.length > 0) problems.push(untrustedAllow(layer, written.length));
        continue;
      }
      for (const [index, entry] of written.entries()) {
        const parsed = parseRule(kind, entry);
        const line = layer.lineOf?.(kind, index);
        const source = { file: layer.file, ...(line !== undefined && { line }) };
        if (parsed.problem) problems.push({ room: 'policy', ...parsed.problem, source });
        const rule: Rule = { kind, text: parsed.text, scope: layer.scope, source };
        for (const target of parsed.targets) sets[kind].add(rule, target);
        if (parsed.targets.length > 0) compiled.push(rule);
      }
    }
  }
  const version = policyVersion(mode, compiled);
  return { policy: rulePolicy(sets, mode, version), problems, mode, version };
}

function rulePolicy(sets: Readonly<Record<RuleKind, RuleSet>>, mode: Mode, policyVersion: string): Policy {
  const settled = new WeakMap<ToolDefinition, Decision>();
  const bySets = (tool: ToolDefinition): Decision => {
    const known = settled.get(tool);
    if (known) return known;
    const decision: Decision = { ...settle(sets, mode, tool), policyVersion };
    settled.set(tool, decision);
    return decision;
  };
  return {
    view: (_who, tool) => bySets(tool),
    decide: (_who, tool) => bySets(tool),
  };
}

/** One pass through the order. Nothing here looks at arguments, so the view and the decision are the same. */
function settle(
  sets: Readonly<Record<RuleKind, RuleSet>>,
  mode: Mode,
  tool: ToolDefinition,
): Pick<Decision, 'effect' | 'reasons'> {
  const names = toolNames(tool);
  const inProcess = tool.ref.server === null;
  const deny = sets.deny.find(names.wide, inProcess);
  if (deny) return { effect: 'deny', reasons: [ruleReason(deny)] };
  const ask = sets.ask.find(names.wide, inProcess);
  const askReasons = ask ? [ruleReason(ask)] : [];
  const byMode = modeAnswer(mode, tool, ask !== undefined);
  if (byMode) return { effect: byMode.effect, reasons: [...askReasons, modeReason(mode, byMode.text)] };
  if (!ask) {
    const allow = sets.allow.find(names.strict, inProcess);
    if (allow) return { effect: 'allow', reasons: [ruleReason(allow)] };
  }
  const reasons = ask ? askReasons : [noRule(tool)];
  if (mode !== 'dontAsk') return { effect: 'ask', reasons };
  return { effect: 'deny', reasons: [...reasons, modeReason(mode, 'Mode dontAsk denies what would be asked.')] };
}

function ruleReason(rule: Rule): Reason {
  const does = { deny: 'denies it', ask: 'wants it asked about', allow: 'allows it' }[rule.kind];
  const text = `The ${rule.kind} rule "${rule.text}" of the ${rule.scope} layer ${does}.`;
  return { room: 'policy', code: `${rule.kind}_rule`, text, source: rule.source };
}

function modeReason(mode: Mode, text: string): Reason {
  return { room: 'policy', code: `mode_${mode}`, text };
}

function noRule(tool: ToolDefinition): Reason {
  const text = `No rule names this tool. To run it without a question, add "${ruleFor(tool)}" to permissions.allow.`;
  return { room: 'policy', code: 'no_rule', text };
}

function untrustedAllow(layer: PolicyLayer, count: number): Reason {
  const rules = count === 1 ? 'The allow rule' : `The ${count} allow rules`;
  const text = `${rules} of ${layer.file} will count once the project is trusted; deny and ask rules hold already.`;
  return { room: 'policy', code: 'allow_untrusted', text, source: { file: layer.file } };
}

function readMode(asked: string | undefined, problems: Reason[]): Mode {
  if (asked === undefined) return 'default';
  if (!isMode(asked)) {
    const text = `There is no mode "${asked}"; it works as default. The modes are ${MODES.join(', ')}.`;
    problems.push({ room: 'policy', code: 'mode_unknown', text });
    return 'default';
  }
  if (asked === 'acceptEdits') {
    const text = 'Mode acceptEdits has no meaning here yet, as there are no built-in edit tools; it works as default.';
    problems.push({ room: 'policy', code: 'mode_without_meaning', text });
  }
  return asked;
}

function policyVersion(mode: Mode, rules: readonly Rule[]): string {
  const lines = rules.map(({ kind, text, scope }) => JSON.stringify([kind, text, scope]));
  return sha256(canonicalJson({ v: 1, mode, rules: [...new Set(lines)].sort() })).slice(0, 16);
}
