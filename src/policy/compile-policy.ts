import type { Policy, Reason, ToolDefinition } from '../contracts/index.ts';
import { canonicalJson, sha256 } from '../tools/index.ts';
import { type PolicyLayer, RULE_KINDS, type Rule, type RuleKind } from './layer.ts';
import { isMode, MODES, type Mode } from './mode.ts';
import { parseRule } from './parse-rule.ts';
import { PatternBook } from './patterns.ts';
import { rulePolicy } from './rule-policy.ts';
import { labelsWithoutServer, unknownLabels } from './rule-labels.ts';
import { RuleSet } from './rule-set.ts';
import { rulesWithoutTools } from './rules-without-tools.ts';

export interface CompiledPolicy {
  readonly policy: Policy;
  /** What is wrong with the rules or the mode; nothing in here loosens anything. */
  readonly problems: readonly Reason[];
  /** The mode in force. */
  readonly mode: Mode;
  /** Hash over mode and rules: equal versions decide equally. */
  readonly version: string;
  /**
   * Compiles the rules' patterns, which need an engine that is loaded at first use; the first decision would do it too.
   *
   * @returns what is wrong with them; a rule with such a pattern fails closed
   */
  ready(): Promise<readonly Reason[]>;
  /** Rules that name none of these tools, or look for a label of a server that has none: a slip of the pen, or a server that changed. */
  unused(tools: readonly ToolDefinition[]): readonly Reason[];
}

export interface CompileOptions {
  /** The user's choice, never a project file's; an unknown one is reported and works as `default`. */
  readonly mode?: string;
  /** Absolute; what relative paths in conditions and arguments are relative to. Default: the working folder. */
  readonly root?: string;
  /** Labels that the program itself gives to conversations: rules that look for them aren't warned about. */
  readonly labels?: readonly string[];
}

/**
 * Compiles rules into a policy. Never throws: what is invalid is reported and fails closed.
 *
 * The order of a decision: deny rules, ask rules, the mode, allow rules, then the person. Neither the mode nor an allow
 * rule loosens what an ask rule says; a tool that nothing names is asked about. A condition that can't be told to hold or
 * not, because a value is missing or of another type, doesn't hold for an allow rule and holds for a deny or ask rule.
 *
 * @param layers where rules come from; denies and asks of all add up
 */
export function compilePolicy(layers: readonly PolicyLayer[], options: CompileOptions = {}): CompiledPolicy {
  const problems: Reason[] = [];
  const mode = readMode(options.mode, problems);
  const sets: Record<RuleKind, RuleSet> = { deny: new RuleSet(), ask: new RuleSet(), allow: new RuleSet() };
  const compiled: Rule[] = [];
  const sound: Rule[] = [];
  const patterns = new PatternBook();
  const patternsOf = new Map<Rule, readonly string[]>();
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
        const { text, when, why } = parsed;
        const rule: Rule = {
          kind,
          text,
          scope: layer.scope,
          source,
          ...(when && { when }),
          ...(why !== undefined && { why }),
        };
        for (const pattern of parsed.patterns ?? []) patterns.add(pattern);
        if (parsed.patterns?.length) patternsOf.set(rule, parsed.patterns);
        for (const target of parsed.targets) sets[kind].add(rule, target);
        if (parsed.targets.length > 0) compiled.push(rule);
        if (!parsed.problem) sound.push(rule);
        problems.push(...unknownLabels(rule, options.labels ?? []));
      }
    }
  }
  const version = policyVersion(mode, compiled);
  return {
    policy: rulePolicy({ sets, mode, version, patterns, root: options.root ?? process.cwd() }),
    problems,
    mode,
    version,
    async ready() {
      if (!patterns.isReady) await patterns.load();
      const unusable = new Set(patterns.unusable());
      return [...patternsOf].flatMap(([rule, texts]) =>
        texts.filter((text) => unusable.has(text)).map((text) => badPattern(rule, text)),
      );
    },
    unused: (tools) => [...rulesWithoutTools(sets, sound, tools), ...labelsWithoutServer(sound, tools)],
  };
}

function badPattern({ kind, text, source }: Rule, pattern: string): Reason {
  const effect = kind === 'allow' ? 'It allows nothing by it.' : 'What it is asked about counts as met.';
  const what = `has the pattern "${pattern}", which is no RE2 regular expression, or too large a one`;
  return { room: 'policy', code: 'rule_pattern', text: `The ${kind} rule "${text}" ${what}. ${effect}`, source };
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
