import type { RuleKind } from './layer.ts';

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
 * @param written the entry of the list; anything but a string is a problem
 */
export function parseRule(kind: RuleKind, written: unknown): ParsedRule {
  if (typeof written !== 'string') {
    return invalid(kind, JSON.stringify(written) ?? String(written), [], 'rule_not_text', 'is not a string');
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
  const named = parseRule(kind, name).targets;
  if (name.startsWith(MCP_PREFIX)) {
    const problem = 'has a condition on arguments, which is not supported yet';
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
