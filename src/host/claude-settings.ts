import { realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Node } from 'jsonc-parser';
import type { Json, Reason } from '../contracts/index.ts';
import type { Permissions, RuleEntry, RuleKind } from '../policy/index.ts';
import { BridleError, canonicalJson, isBridleError, sha256 } from '../tools/index.ts';
import { type ConfigFile, kindOf, readConfigFile } from './config-file.ts';
import { jsonOf, valueAt } from './config-tree.ts';
import { homeOf } from './import/places.ts';
import { hostReason } from './reason.ts';
import { visibleText } from './visible-text.ts';

/** Rules that stand in another program's settings and are read there, as they are at the moment. */
export interface ForeignRules {
  readonly file: string;
  /** A project's rules allow once they are trusted. */
  readonly owner: 'user' | 'project';
  readonly permissions: Permissions;
  lineOf(kind: RuleKind, index: number): number | undefined;
  /** Over the rules that were taken: the rest of the file may change as it likes. */
  readonly hash: string;
  /** What has no meaning here, in one reason. */
  readonly warnings: readonly Reason[];
}

const KINDS: readonly RuleKind[] = ['deny', 'ask', 'allow'];
/** Of a project, in the order in which they are read. */
const PROJECT_FILES = ['settings.json', 'settings.local.json'];
/** Of a file's keys, those that mean nothing to rules and aren't missed: one belongs to hooks, and is told of with them. */
const ELSEWHERE: ReadonlySet<string> = new Set(['permissions', '$schema', 'disableAllHooks']);
/** So many of the things without a meaning are named. */
const NAMED = 12;

/**
 * The rules in Claude Code's settings: those of the project's `.claude/settings.json` and `settings.local.json`, and
 * those of the person's `~/.claude/settings.json` where the person wants them.
 *
 * @param root the project's folder: absolute, without symbolic links
 * @throws BridleError `config_…` when a file can't be read, or it can't be told which rules it means: a deny could be lost
 */
export async function readClaudeRules(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
  options: { readonly own: boolean },
): Promise<readonly ForeignRules[]> {
  const found: ForeignRules[] = [];
  const own = join(homeOf(env), '.claude', 'settings.json');
  const real = await realpath(own).catch(() => own);
  // A file that lies in the project's folder is the project's word, whatever leads there.
  const isOutside = relative(root, real).startsWith('..');
  if (options.own && isOutside) {
    const file = await readConfigFile(own);
    if (file) found.push(rulesOf(file, 'user'));
  }
  for (const name of PROJECT_FILES) {
    const file = await readConfigFile(join(root, '.claude', name));
    if (file) found.push(rulesOf(file, 'project'));
  }
  return found;
}

function rulesOf(file: ConfigFile, owner: ForeignRules['owner']): ForeignRules {
  const without: string[] = [];
  const nodes = new Map<RuleKind, readonly Node[]>();
  for (const [key] of membersIn(file.root)) if (!ELSEWHERE.has(key)) without.push(key);
  const block = valueAt(file.root, 'permissions');
  if (block && block.type !== 'object') throw unreadable(file, block, `"permissions" is ${kindOf(block)}`);
  for (const [key, value] of block ? membersIn(block) : []) {
    const kind = KINDS.find((one) => one === key);
    if (!kind) {
      without.push(key);
      continue;
    }
    if (value.type !== 'array') throw unreadable(file, value, `"${kind}" is ${kindOf(value)}`);
    const here = (value.children ?? []).filter((node) => isRuleHere(jsonOf(node)));
    for (const node of value.children ?? []) if (!here.includes(node)) without.push(shown(jsonOf(node)));
    nodes.set(kind, [...(nodes.get(kind) ?? []), ...here]);
  }
  const lists = [...nodes].map(([kind, list]) => [kind, list.map((node) => jsonOf(node) as RuleEntry)] as const);
  const permissions: Permissions = Object.fromEntries(lists);
  return {
    file: file.path,
    owner,
    permissions,
    lineOf: (kind, index) => {
      const node = nodes.get(kind)?.[index];
      return node && file.at(node).line;
    },
    hash: sha256(canonicalJson(lists.map(([kind, list]) => [kind, list as Json[]]))),
    warnings: withoutMeaning(file.path, without),
  };
}

/** There are no built-in tools of another program here, so only names of servers' tools and wildcards mean something. */
function isRuleHere(rule: Json): boolean {
  return typeof rule === 'string' && (/^\s*mcp__/i.test(rule) || /^\s*\*+\s*$/.test(rule));
}

function shown(rule: Json): string {
  return typeof rule === 'string' ? rule : JSON.stringify(rule);
}

function withoutMeaning(file: string, names: readonly string[]): readonly Reason[] {
  if (names.length === 0) return [];
  const all = [...new Set(names)];
  const more = all.length > NAMED ? `, and ${all.length - NAMED} more` : '';
  const text = `These have no meaning here: ${all.slice(0, NAMED).join(', ')}${more}.`;
  return [hostReason('claude_without_meaning', text, { file })];
}

function membersIn(object: Node): readonly (readonly [key: string, value: Node])[] {
  return (object.children ?? []).flatMap(({ children }) => {
    const [key, value] = children ?? [];
    return key && value ? [[String(key.value), value] as const] : [];
  });
}

function unreadable(file: ConfigFile, node: Node, what: string): BridleError {
  const { line } = file.at(node);
  return new BridleError('config_rules_unreadable', `${file.path}:${line}: ${what}, so a rule could be lost.`, {
    hint: 'Correct the file, or take "claude" out of "from" in bridle.json.',
  });
}

/**
 * What the settings of other programs in a project would do there, and never do here; for whoever is asked to trust it.
 *
 * @param taken what is read of them after all
 * Never throws: nothing depends on it.
 */
export async function ignoredSettings(
  root: string,
  taken: { readonly hooks: boolean } = { hooks: false },
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const name of PROJECT_FILES) {
    const where = `.claude/${name}`;
    const file = await readConfigFile(join(root, where)).catch((error: unknown) => {
      if (isBridleError(error)) return undefined;
      throw error;
    });
    if (!file) continue;
    for (const [key, value] of membersIn(file.root)) {
      const line = key === 'hooks' && taken.hooks ? undefined : ignored(key, value);
      if (line !== undefined) lines.push(visibleText(`${where}: ${line}`));
    }
  }
  return lines;
}

function ignored(key: string, value: Node): string | undefined {
  const names = membersIn(value).map(([name]) => name);
  if (key === 'hooks') return `hooks (${names.join(', ')}) are never run`;
  if (key === 'disableAllHooks') return `${key} turns off no hook`;
  if (key === 'env') return `variables (${names.join(', ')}) are not set, for Bridle or for a model's address`;
  if (key === 'permissions') {
    const mode = valueAt(value, 'defaultMode');
    return mode && `the mode ${JSON.stringify(jsonOf(mode))} is not taken`;
  }
  if (/helper$|Refresh$|^statusLine$|command$/i.test(key)) return `${key} is never run`;
  if (/^enable.*Mcp/i.test(key)) return `${key} approves nothing`;
  return undefined;
}
