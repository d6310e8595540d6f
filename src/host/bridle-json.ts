import type { Node } from 'jsonc-parser';
import type { PreviewPlan, Reason } from '../contracts/index.ts';
import { MODES, type Permissions, type RuleEntry, type RuleKind, type View } from '../policy/index.ts';
import { BridleError, canonicalJson, sha256 } from '../tools/index.ts';
import { type ApprovalSettings, readApprovalSettings } from './approval-settings.ts';
import { type AuditWords, readAuditSettings } from './audit-settings.ts';
import {
  BRIDLE_KEYS,
  FOREIGN_BRIDLE_KEYS,
  FOREIGN_PERMISSION_KEYS,
  PERMISSION_KEYS,
  PREVIEW_KEYS,
} from './bridle-keys.ts';
import { type ConfigFile, kindOf } from './config-file.ts';
import {
  jsonOf,
  type Member,
  membersOf,
  type TreeReader,
  treeReader,
  warnUnknownKeys,
  valuesNamed,
} from './config-tree.ts';
import { offBy, readDisableAllHooks } from './hooks/disable-hooks.ts';
import { type HookEntries, readHookEntries } from './hooks/hook-entry.ts';
import { nearestKey } from './nearest-key.ts';
import { type PinMode, readPinMode } from './pin-settings.ts';
import { readSamplingKey } from './read-sampling.ts';
import { readServerLog, type ServerLogSetting } from './read-server-log.ts';
import { readViews } from './read-views.ts';
import type { SamplingBudget } from './sampling.ts';

/** How the facts of a call are had before it is approved, as `bridle.json` maps it. */
export interface PreviewEntry {
  /** Names the tool whose calls are previewed, as a rule does. */
  readonly rule: string;
  readonly plan: Extract<PreviewPlan, { kind: 'tool' }>;
  readonly hash: string;
  readonly source: NonNullable<Reason['source']>;
}

export interface BridleFile {
  readonly permissions: Permissions;
  lineOf(kind: RuleKind, index: number): number | undefined;
  /** Programs in whose settings more rules stand. */
  readonly from: readonly 'claude'[];
  readonly previews: readonly PreviewEntry[];
  /** Narrower tools in place of some; those that can't be used hide them all the same. */
  readonly views: readonly View[];
  /** Only the user's own file may set it. */
  readonly mode?: string;
  /** What each server may use of the model. Only the user's own file may set it. */
  readonly sampling: ReadonlyMap<string, SamplingBudget>;
  readonly approvals: ApprovalSettings;
  /** Only the user's own file may set it. */
  readonly serverLog?: ServerLogSetting;
  readonly audit?: AuditWords;
  /** How tools are pinned. */
  readonly pins?: PinMode;
  /** Commands behind events. */
  readonly hooks: HookEntries;
  readonly warnings: readonly Reason[];
}

/**
 * Reads a `bridle.json`.
 *
 * @param owner whose file it is: a project's file sets no mode
 * @throws BridleError `config_rules_unreadable` when it can't be told which rules the file means: running without a
 *   deny that somebody wrote would be worse than not running
 */
export function readBridleFile(file: ConfigFile, owner: 'user' | 'project'): BridleFile {
  const reader = treeReader(file);
  const top = membersOf(reader, file.root, 'this file');
  warnUnknownKeys(reader, top, BRIDLE_KEYS, 'this file', FOREIGN_BRIDLE_KEYS);
  const rules = readPermissions(reader, file);
  const mode = readMode(reader, top.get('mode')?.value, owner);
  const serverLog = readServerLog(reader, top.get('serverLog')?.value, owner);
  const audit = readAuditSettings(reader, top.get('audit')?.value, owner);
  const pins = readPinMode(reader, top.get('pins')?.value, owner);
  return {
    permissions: rules.permissions,
    from: rules.from,
    lineOf: (kind, index) => {
      const node = rules.nodes.get(kind)?.[index];
      return node && file.at(node).line;
    },
    previews: readPreviews(reader, top.get('previews')?.value),
    views: readViews(reader, valuesNamed(file.root, 'views'), owner),
    hooks: {
      ...readHookEntries(reader, valuesNamed(file.root, 'hooks')),
      ...offBy(readDisableAllHooks(reader, valuesNamed(file.root, 'disableAllHooks'), owner)),
    },
    sampling: readSamplingKey(reader, top.get('sampling')?.value, owner),
    ...(mode !== undefined && { mode }),
    approvals: readApprovalSettings(reader, top.get('approvals')?.value),
    ...(serverLog !== undefined && { serverLog }),
    ...(audit && { audit }),
    ...(pins !== undefined && { pins }),
    warnings: reader.warnings,
  };
}

interface RuleLists {
  readonly permissions: Permissions;
  readonly from: readonly 'claude'[];
  readonly nodes: ReadonlyMap<RuleKind, readonly Node[]>;
}

function readPermissions(reader: TreeReader, file: ConfigFile): RuleLists {
  refuseMisspelled(file, file.root, ['permissions', 'views', 'hooks'], ['ask', 'deny']);
  const blocks = valuesNamed(file.root, 'permissions');
  if (blocks.length > 1)
    throw unreadable(file, blocks[1], '"permissions" stands twice, so it is open which one counts');
  const block = blocks[0];
  const nodes = new Map<RuleKind, readonly Node[]>();
  if (!block) return { permissions: {}, from: [], nodes };
  if (block.type !== 'object') {
    throw unreadable(file, block, `"permissions" is ${kindOf(block)}; an object with allow, ask and deny is expected`);
  }
  refuseMisspelled(file, block, ['ask', 'deny'], ['block', 'disallow']);
  const members = membersOf(reader, block, 'permissions');
  warnUnknownKeys(reader, members, PERMISSION_KEYS, 'permissions', FOREIGN_PERMISSION_KEYS);
  for (const kind of ['allow', 'ask', 'deny'] as const) {
    const lists = valuesNamed(block, kind);
    if (lists.length > 1) throw unreadable(file, lists[1], `"${kind}" stands twice, so it is open which one counts`);
    const list = lists[0];
    if (!list) continue;
    if (list.type === 'string') {
      const effect = kind === 'allow' ? 'it allows nothing' : 'it is taken as a list of one rule';
      reader.warn('rules_not_list', list, `"${kind}" is a string; a list of rules is expected, so ${effect}.`);
      if (kind !== 'allow') nodes.set(kind, [list]);
      continue;
    }
    if (list.type !== 'array') {
      throw unreadable(file, list, `"${kind}" is ${kindOf(list)}; a list of rules is expected`);
    }
    nodes.set(kind, list.children ?? []);
  }
  for (const node of [...nodes.values()].flat()) refuseTwice(file, node);
  // Entries that are neither strings nor rules are left for the policy, which reports them with the rest of what is wrong with rules.
  const texts = [...nodes].map(
    ([kind, list]) => [kind, list.map((node) => jsonOf(node) as unknown as RuleEntry)] as const,
  );
  return { permissions: Object.fromEntries(texts), from: readFrom(file, members.get('from')?.value), nodes };
}

function readFrom(file: ConfigFile, node: Node | undefined): readonly 'claude'[] {
  if (!node) return [];
  const names = node.type === 'array' ? (node.children ?? []) : [node];
  for (const name of names) {
    if (name.value === 'claude') continue;
    throw unreadable(file, name, `"from" names ${JSON.stringify(jsonOf(name))}; rules are read of "claude" only`);
  }
  return names.length > 0 ? ['claude'] : [];
}

/** A condition that stands twice: with only one of them a rule could let pass what its author meant it to stop. */
function refuseTwice(file: ConfigFile, rule: Node): void {
  const open = [rule];
  for (let node = open.pop(); node; node = open.pop()) {
    const seen = new Set<string>();
    for (const property of node.type === 'object' ? (node.children ?? []) : []) {
      const key = property.children?.[0];
      if (!key) continue;
      const name = String(key.value);
      if (seen.has(name))
        throw unreadable(file, key, `"${name}" stands twice in one rule, so it is open which one counts`);
      seen.add(name);
    }
    open.push(...(node.children ?? []));
  }
}

/**
 * A key under which somebody meant to deny, to ask or to narrow, and which would have no effect.
 *
 * @param known those that have one; a slip away from them is refused
 * @param foreign those of another place or program, which are refused too
 */
function refuseMisspelled(file: ConfigFile, object: Node, known: readonly string[], foreign: readonly string[]): void {
  for (const { children } of object.type === 'object' ? (object.children ?? []) : []) {
    const key = children?.[0];
    const name = String(key?.value);
    if (!key || known.includes(name) || name === 'allow') continue;
    if (foreign.includes(name))
      throw unreadable(file, key, `"${name}" would have no effect here. ${FOREIGN.get(name)}`);
    // Two letters that changed places are two slips, too many for so short a word.
    const near = nearestKey(name, known) ?? known.find((one) => lettersOf(one) === lettersOf(name));
    if (near) throw unreadable(file, key, `"${name}" would have no effect. Did you mean "${near}"?`);
  }
}

function lettersOf(word: string): string {
  return [...word.toLowerCase()].sort().join('');
}

const FOREIGN = new Map([...FOREIGN_BRIDLE_KEYS, ...FOREIGN_PERMISSION_KEYS]);

function unreadable(file: ConfigFile, node: Node | undefined, what: string): BridleError {
  const { line } = file.at(node ?? file.root);
  return new BridleError('config_rules_unreadable', `${file.path}:${line}: ${what.replace(/(?<![.?])$/, '.')}`, {
    hint: 'Nothing runs before the rules can be read: correct the file.',
  });
}

function readMode(reader: TreeReader, node: Node | undefined, owner: 'user' | 'project'): string | undefined {
  if (!node) return undefined;
  if (owner === 'project') {
    const text = 'A mode never comes from a project: write it in your own bridle.json or give --mode. It is ignored.';
    reader.warn('mode_in_project', node, text);
    return undefined;
  }
  if (node.type === 'string') return String(node.value);
  reader.warn('odd_value', node, `"mode" is ${kindOf(node)}; one of ${MODES.join(', ')} is expected.`);
  return undefined;
}

function readPreviews(reader: TreeReader, node: Node | undefined): readonly PreviewEntry[] {
  if (!node) return [];
  if (node.type !== 'object') {
    reader.warn(
      'previews_not_object',
      node,
      `"previews" is ${kindOf(node)}; an object from tool to preview is expected.`,
    );
    return [];
  }
  return [...membersOf(reader, node, 'previews')].flatMap(([rule, member]) => readPreview(reader, rule, member) ?? []);
}

function readPreview(reader: TreeReader, rule: string, { key, value }: Member): PreviewEntry | undefined {
  const where = `the preview of "${rule}"`;
  const refuse = (at: Node, what: string) =>
    void reader.warn('preview_invalid', at, `${where} ${what}; it is ignored.`);
  if (!/^mcp__.+__.+$/.test(rule) || /[*(]/.test(rule)) {
    return refuse(key, 'must name one tool of one server, as in "mcp__shop__refund"');
  }
  if (value.type !== 'object') return refuse(value, `is ${kindOf(value)}; an object is expected`);
  const members = membersOf(reader, value, where);
  warnUnknownKeys(reader, members, PREVIEW_KEYS, where);
  const tool = members.get('tool')?.value;
  if (tool?.type !== 'string' || tool.value === '') {
    return refuse(tool ?? key, 'has no "tool": the read-only tool of the same server that tells the facts');
  }
  const mapped = members.get('arguments')?.value;
  if (mapped && mapped.type !== 'object') return refuse(mapped, `has "arguments" that are ${kindOf(mapped)}`);
  const pointers: [string, string][] = [];
  for (const [name, { value: pointer }] of mapped ? membersOf(reader, mapped, where) : []) {
    if (pointer.type !== 'string' || !/^(\/([^~]|~[01])*)?$/.test(String(pointer.value))) {
      return refuse(pointer, `gives "${name}" no JSON Pointer, as in "/order/id"`);
    }
    pointers.push([name, String(pointer.value)]);
  }
  const toolName = String(tool.value);
  // `fromEntries` defines properties, so a name such as `__proto__` is a key like any other.
  const plan = { kind: 'tool', tool: toolName, arguments: Object.fromEntries(pointers), by: 'config' } as const;
  const hash = sha256(canonicalJson([rule, jsonOf(value)]));
  return { rule, plan, hash, source: reader.file.at(key) };
}
