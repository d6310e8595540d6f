import { canonicalJson } from '../tools/index.ts';
import type { Condition } from './condition.ts';
import type { RuleKind } from './layer.ts';
import { parseCondition } from './parse-condition.ts';

/**
 * What a rule names. `exact` is a whole name: of a tool, or of a server (`mcp__fs`). `glob` has wildcards in the tool
 * part only. `wide` has them anywhere, and is for rules that deny or ask: an allow never crosses servers.
 */
export type RuleTarget =
  | { readonly match: 'all' }
  | { readonly match: 'exact'; readonly text: string }
  | { readonly match: 'glob'; readonly text: string }
  | { readonly match: 'wide'; readonly text: string };

export interface ParsedRule {
  readonly text: string;
  readonly targets: readonly RuleTarget[];
  readonly when?: Condition;
  readonly patterns?: readonly string[];
  readonly why?: string;
  readonly problem?: { readonly code: string; readonly text: string };
}

export const MCP_PREFIX = 'mcp__';

/** The server's part of a rule or name that begins with `mcp__`; a clean part holds no `__`, so the first one ends it. */
export function serverGroup(text: string): string {
  const rest = text.slice(MCP_PREFIX.length);
  const end = rest.indexOf('__');
  return end < 0 ? rest : rest.slice(0, end);
}

/**
 * Reads one rule. Never throws. An invalid rule fails closed: in `deny` and `ask` it still covers what it can be seen
 * to name, in `allow` it covers nothing.
 *
 * @param kind the list in which the rule stands
 * @param written the entry of the list: a string, or an object with `tool` and perhaps `when` and `reason`
 */
export function parseRule(kind: RuleKind, written: unknown): ParsedRule {
  if (typeof written === 'object' && written !== null && !Array.isArray(written)) return objectRule(kind, written);
  return nameRule(kind, written);
}

const MOST_TEXT = 500;

/** The rule is read as the string would be that names its tools; what is wrong beside that makes it hold for all calls. */
function objectRule(kind: RuleKind, written: object): ParsedRule {
  const members = new Map<string, unknown>(Object.entries(written));
  const tool = members.get('tool');
  if (typeof tool !== 'string') {
    return invalid(
      kind,
      shortJson(written),
      [{ match: 'all' }],
      'rule_no_tool_key',
      'has no "tool" that names its tools',
    );
  }
  const named = nameRule(kind, tool);
  const { text } = named;
  if (named.problem) return named;
  const odd = [...members.keys()].find((key) => !['tool', 'when', 'reason'].includes(key));
  if (odd !== undefined) {
    const what = `has a key "${odd}", which is not known: a rule has "tool", "when" and "reason"`;
    return invalid(kind, text, named.targets, 'rule_unknown_key', what);
  }
  const why = members.get('reason');
  if (why !== undefined && (typeof why !== 'string' || why.length > MOST_TEXT)) {
    const what = `has a "reason" that is no text of at most ${MOST_TEXT} characters`;
    return invalid(kind, text, named.targets, 'rule_reason', what);
  }
  const said = why === undefined ? {} : { why };
  if (!members.has('when')) return { ...named, ...said };
  const when = members.get('when');
  const parsed = parseCondition(when);
  if ('problem' in parsed) {
    return invalid(kind, text, named.targets, 'rule_condition', `has a condition that ${parsed.problem}`);
  }
  const { condition, patterns } = parsed;
  return { ...named, ...said, text: `${text} when ${canonicalJson(when as never)}`, when: condition, patterns };
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}

function nameRule(kind: RuleKind, written: unknown): ParsedRule {
  if (typeof written !== 'string') {
    return invalid(kind, shortJson(written), [], 'rule_not_text', 'is neither a string nor an object with a "tool"');
  }
  const text = written.trim();
  if (text === '') return invalid(kind, written, [], 'rule_empty', 'is empty and names nothing');
  if (/^\*+$/.test(text)) {
    const all: RuleTarget[] = [{ match: 'all' }];
    if (kind !== 'allow') return { text, targets: all };
    return invalid(kind, text, all, 'allow_everything', 'would allow every tool of every server: name the server');
  }
  const paren = text.indexOf('(');
  if (paren >= 0) return withCondition(kind, text, text.slice(0, paren).trim());
  if (text.startsWith(MCP_PREFIX)) return mcpRule(kind, text);
  if (/\s/.test(text)) {
    return invalid(
      kind,
      text,
      bareTargets(kind, text),
      'rule_spaces',
      'has white space in a tool name of this process',
    );
  }
  if (/^mcp__/i.test(text)) {
    const problem = 'is not read as an MCP rule: names are case-sensitive and the prefix is `mcp__`';
    const meant = mcpRule(kind, MCP_PREFIX + text.slice(MCP_PREFIX.length)).targets;
    return invalid(kind, text, [...bareTargets(kind, text), ...meant], 'rule_case', problem);
  }
  if (/^mcp_?\*/.test(text)) return invalid(kind, text, bareTargets(kind, text), 'rule_wide', WIDE);
  return { text, targets: bareTargets(kind, text) };
}

const WIDE = 'has a wildcard in the server part: a wildcard never crosses servers, so write one rule a server';

function mcpRule(kind: RuleKind, text: string): ParsedRule {
  const server = serverGroup(text);
  const tool = text.slice(MCP_PREFIX.length + server.length);
  if (server === '') {
    const problem = 'names no server: write `mcp__<server>__<tool>`';
    return invalid(kind, text, [{ match: 'wide', text: `${text}*` }], 'rule_no_server', problem);
  }
  if (server.includes('*')) return invalid(kind, text, wideTargets(text), 'rule_wide', WIDE);
  if (tool === '__') {
    const problem = `names no tool: write \`${text}*\` for all tools of the server`;
    return invalid(kind, text, [{ match: 'glob', text: `${text}*` }], 'rule_no_tool', problem);
  }
  return { text, targets: [tool.includes('*') ? { match: 'glob', text } : { match: 'exact', text }] };
}

function withCondition(kind: RuleKind, text: string, name: string): ParsedRule {
  const whole: RuleTarget = { match: 'exact', text };
  if (name === '') return invalid(kind, text, [whole], 'rule_no_name', 'has a condition but names no tool');
  const named = nameRule(kind, name).targets;
  if (name.startsWith(MCP_PREFIX)) {
    const problem = 'has a condition in brackets: write {"tool": …, "when": {…}} instead';
    return invalid(kind, text, [...named, whole], 'rule_condition', problem);
  }
  const problem = `has no meaning here yet: there is no built-in ${name} tool whose calls it could select`;
  return invalid(kind, text, [...named, whole], 'rule_without_meaning', problem);
}

/**
 * A name without `mcp__`. With a wildcard it allows tools of this process only; a deny or ask also covers the tools of
 * servers whose whole name it matches, as whoever writes `*delete*` under `deny` means those too.
 */
function bareTargets(kind: RuleKind, text: string): RuleTarget[] {
  if (!text.includes('*')) return [{ match: 'exact', text }];
  const own: RuleTarget = { match: 'glob', text };
  return kind === 'allow' ? [own] : [own, { match: 'wide', text }];
}

/** `mcp__git*` covers the tools of the servers that it names, so it gets both readings. */
function wideTargets(text: string): RuleTarget[] {
  return [
    { match: 'wide', text },
    { match: 'wide', text: `${text}__*` },
  ];
}

const EFFECT_OF_INVALID: Readonly<Record<RuleKind, string>> = {
  allow: 'It allows nothing.',
  ask: 'It asks for what it names.',
  deny: 'It denies what it names.',
};

function invalid(kind: RuleKind, text: string, targets: readonly RuleTarget[], code: string, what: string): ParsedRule {
  const covered = kind === 'allow' ? [] : targets;
  const effect = kind !== 'allow' && targets.length === 0 ? 'It has no effect.' : EFFECT_OF_INVALID[kind];
  return { text, targets: covered, problem: { code, text: `The ${kind} rule "${text}" ${what}. ${effect}` } };
}
