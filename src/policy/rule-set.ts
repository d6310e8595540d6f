import type { ToolDefinition } from '../contracts/index.ts';
import { wireName, wireServerPart } from '../tools/index.ts';
import { globMatches } from './glob.ts';
import type { Rule } from './layer.ts';
import { MCP_PREFIX, type RuleTarget, serverGroup } from './parse-rule.ts';

const UNCLEAN = /[^a-zA-Z0-9_-]/g;

/** The texts by which rules can name one tool. */
export interface ToolNames {
  /** By which an allow may name it: spellings that no other server's tool can have. */
  readonly strict: readonly string[];
  /** By which a deny or ask may name it: also spellings that another tool could share. */
  readonly wide: readonly string[];
}

/**
 * The spellings of a tool in rules: `mcp__<server>__<tool>` with the server's key or its wire part and the tool as its
 * server spells it; its wire name; `mcp__<server>` for the whole server; for a tool of this process its bare name.
 */
export function toolNames(tool: ToolDefinition): ToolNames {
  const { server, tool: name } = tool.ref;
  if (server === null) {
    const wire = wireName(null, name);
    return { strict: name.startsWith(MCP_PREFIX) ? [wire] : [name, wire], wide: distinct([name, wire, tool.ref.name]) };
  }
  const part = MCP_PREFIX + wireServerPart(server.key);
  const key = MCP_PREFIX + server.key;
  const strict = [`${part}__${name}`, part, wireName(server.key, name)];
  if (keyIsUnambiguous(server.key)) strict.push(`${key}__${name}`, key);
  // Other hosts write an underscore for each character that a wire name can't have; rules brought from there still deny.
  const plain = MCP_PREFIX + server.key.replace(UNCLEAN, '_');
  const wide = [
    `${key}__${name}`,
    key,
    tool.ref.name,
    `${plain}__${name}`,
    `${plain}__${name.replace(UNCLEAN, '_')}`,
    plain,
  ];
  return { strict: distinct(strict), wide: distinct([...strict, ...wide]) };
}

/** `a__b` could be server `a` with a tool that begins with `b`; only its wire part names it for an allow. */
function keyIsUnambiguous(key: string): boolean {
  return key !== '' && !key.includes('__') && !key.startsWith('_') && !key.endsWith('_');
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

/**
 * How a rule may be written so that it names exactly this tool. It goes from a terminal into a shell or into JSON by
 * hand, so a tool whose name has anything special in it, or could be taken for a server's, is named by its wire name.
 */
export function ruleFor(tool: ToolDefinition): string {
  const { server, tool: name } = tool.ref;
  if (!/^[\w./:@-]+$/.test(name) || (server === null && name.startsWith(MCP_PREFIX)))
    return wireName(server?.key ?? null, name);
  return server === null ? name : `${MCP_PREFIX}${wireServerPart(server.key)}__${name}`;
}

/** The rules of one kind, found by name: whole names through a map, wildcards within the server that they name. */
export class RuleSet {
  readonly #exact = new Map<string, Rule[]>();
  /** Wildcard rules by server part; null holds those of this process. */
  readonly #globs = new Map<string | null, { readonly pattern: string; readonly rule: Rule }[]>();
  readonly #wide: { readonly pattern: string; readonly rule: Rule }[] = [];
  readonly #all: Rule[] = [];

  add(rule: Rule, target: RuleTarget): void {
    switch (target.match) {
      case 'all':
        this.#all.push(rule);
        return;
      case 'exact':
        push(this.#exact, target.text, rule);
        return;
      case 'glob': {
        const group = target.text.startsWith(MCP_PREFIX) ? serverGroup(target.text) : null;
        push(this.#globs, group, { pattern: target.text, rule });
        return;
      }
      case 'wide':
        this.#wide.push({ pattern: target.text, rule });
    }
  }

  /**
   * The rules that name a tool, once each: whole names before wildcards, each in the order in which they were added. Where
   * one has no condition it is the only one, as it holds for every call.
   */
  find(names: readonly string[], inProcess: boolean): readonly Rule[] {
    const found = new Set<Rule>();
    for (const rule of this.naming(names, inProcess)) {
      if (rule.when === undefined) return [rule];
      found.add(rule);
    }
    return [...found];
  }

  /** All of them, in that order; one that names the tool twice comes twice. */
  *naming(names: readonly string[], inProcess: boolean): Generator<Rule> {
    for (const name of names) yield* this.#exact.get(name) ?? [];
    for (const name of names) {
      const groups = name.startsWith(MCP_PREFIX) ? [serverGroup(name)] : [];
      for (const group of inProcess ? [...groups, null] : groups) yield* matching(this.#globs.get(group) ?? [], name);
      yield* matching(this.#wide, name);
    }
    yield* this.#all;
  }
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

function* matching(globs: readonly { readonly pattern: string; readonly rule: Rule }[], name: string): Generator<Rule> {
  for (const { pattern, rule } of globs) if (globMatches(pattern, name)) yield rule;
}
