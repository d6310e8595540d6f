import { realpath } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { Node } from 'jsonc-parser';
import type { Json, Reason } from '../../contracts/index.ts';
import { compilePolicy, MODES, type RuleKind } from '../../policy/index.ts';
import { configDir } from '../../store/index.ts';
import { BridleError, isBridleError } from '../../tools/index.ts';
import { type ConfigFile, kindOf, readConfigFile } from '../config-file.ts';
import { jsonOf, valueAt } from '../config-tree.ts';
import { type ConfigEdit, editConfig } from '../edit-config.ts';
import { findProjectRoot } from '../project-root.ts';
import { hostReason } from '../reason.ts';
import { homeOf } from './places.ts';

export interface ImportSettingsOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Read these instead of Claude Code's three files. Relative to `cwd`. */
  readonly from?: readonly string[];
  /** Put the rules there. By default a project's file goes to the project, the person's own to the person. */
  readonly to?: 'project' | 'user';
  /** Only say what would be done. */
  readonly dryRun?: boolean;
  /** Absolute; the XDG place otherwise. */
  readonly configDir?: string;
}

export interface TakenRule {
  readonly kind: RuleKind;
  readonly rule: string;
  readonly file: string;
  readonly from: NonNullable<Reason['source']>;
  /** What the policy says about it: such a rule allows nothing, but may deny or ask. */
  readonly problem?: Reason;
}

export interface SettingsReport {
  /** The files that were there. */
  readonly files: readonly string[];
  readonly taken: readonly TakenRule[];
  /** The mode, where it was taken into the person's own file. */
  readonly mode?: { readonly mode: string; readonly file: string };
  /** What has no meaning here, or is there already. */
  readonly left: readonly Reason[];
}

const KINDS: readonly RuleKind[] = ['allow', 'ask', 'deny'];

/** What other keys of a settings file would do there, and what does it here. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ['hooks', 'They are not copied; "hooks": {"from": ["claude"]} in your bridle.json reads them where they are.'],
  ['env', 'Variables are taken from your environment only.'],
  ['mcpServers', "Servers are taken over by 'bridle mcp import'."],
  ['enableAllProjectMcpServers', 'Servers of a project are asked about.'],
  ['enabledMcpjsonServers', 'Servers of a project are asked about.'],
  ['disabledMcpjsonServers', "Turn them off by 'bridle mcp disable NAME'."],
  ['apiKeyHelper', 'No command is run for a key; set ANTHROPIC_API_KEY.'],
  ['model', 'Give --model, or set BRIDLE_MODEL.'],
  ['sandbox', 'There is no sandbox.'],
]);
const IN_PERMISSIONS: ReadonlyMap<string, string> = new Map([
  ['additionalDirectories', 'There are no built-in tools that read folders.'],
  ['disableBypassPermissionsMode', 'A mode is taken from the person only.'],
]);

/**
 * Turns the `permissions` of Claude Code's settings into rules of a `bridle.json`, and lists what has no meaning here.
 * A mode is taken from the person's own settings into the person's own file, and never from a project's.
 *
 * @throws BridleError `config_missing`, `config_…`, `config_not_written`
 */
export async function importSettings(options: ImportSettingsOptions): Promise<SettingsReport> {
  const root = await findProjectRoot(options.cwd);
  const targets = {
    project: join(root, 'bridle.json'),
    user: join(options.configDir ?? configDir(options.env), 'bridle.json'),
  };
  const home = join(homeOf(options.env), '.claude', 'settings.json');
  const files: string[] = [];
  const taken: TakenRule[] = [];
  const left: Reason[] = [];
  let mode: SettingsReport['mode'];
  for (const { file, owner } of await settingsFiles(options, root, home)) {
    const config = await readConfigFile(file).catch((error: unknown) => {
      if (options.from || !isBridleError(error)) throw error;
      left.push(hostReason(error.code, error.message, { file }));
      return undefined;
    });
    if (!config) continue;
    files.push(file);
    const to = options.to ?? owner;
    const found = readSettings(config, targets[to], left);
    const fresh = await notThereYet(found.rules, left);
    const wish = owner === 'user' && to === 'user' ? found.mode : undefined;
    if (found.mode !== undefined && wish === undefined) {
      const text = 'A mode is only taken from your own settings into your own file. Give --mode, or write it there.';
      left.push(hostReason('mode_left', text, found.mode.source));
    }
    const wrote = options.dryRun === true ? true : await write(to, targets[to], root, fresh, wish?.mode);
    taken.push(...fresh);
    if (wish && wrote) mode = { mode: wish.mode, file: targets[to] };
  }
  return { files, taken, ...(mode && { mode }), left };
}

async function settingsFiles(
  { from, cwd }: ImportSettingsOptions,
  root: string,
  home: string,
): Promise<readonly { readonly file: string; readonly owner: 'project' | 'user' }[]> {
  if (!from) {
    return [
      { file: home, owner: 'user' },
      { file: join(root, '.claude', 'settings.json'), owner: 'project' },
      { file: join(root, '.claude', 'settings.local.json'), owner: 'project' },
    ];
  }
  const files: { file: string; owner: 'project' | 'user' }[] = [];
  for (const name of from) {
    const file = resolve(cwd, name);
    const real = await realpath(file).catch((cause) => {
      throw new BridleError('config_missing', `There is no file ${file}.`, { cause, hint: 'Check the path.' });
    });
    // Only the person's own settings, at their own place, are the person's word.
    const isOwn = real === (await realpath(home).catch(() => undefined)) && relative(root, real).startsWith('..');
    files.push({ file, owner: isOwn ? 'user' : 'project' });
  }
  return files;
}

interface Found {
  readonly rules: readonly TakenRule[];
  readonly mode?: { readonly mode: string; readonly source: NonNullable<Reason['source']> };
}

function readSettings(config: ConfigFile, target: string, left: Reason[]): Found {
  const rules: TakenRule[] = [];
  let mode: Found['mode'];
  const leave = (code: string, node: Node, text: string) => void left.push(hostReason(code, text, config.at(node)));
  for (const { children } of config.root.children ?? []) {
    const [key, value] = children ?? [];
    if (!key || !value || key.value === '$schema') continue;
    if (key.value !== 'permissions') {
      leave('setting_left', key, `"${key.value}" has no meaning here. ${ADVICE.get(String(key.value)) ?? ''}`.trim());
    } else if (value.type !== 'object') leave('setting_left', key, `"permissions" is ${kindOf(value)}.`);
    else {
      for (const { children: pair } of value.children ?? []) {
        const [name, list] = pair ?? [];
        if (!name || !list) continue;
        const kind = KINDS.find((one) => one === name.value);
        if (kind) rules.push(...readRules(config, kind, list, target, left));
        else if (name.value === 'defaultMode' && list.type === 'string') {
          const wished = String(list.value);
          if ((MODES as readonly string[]).includes(wished)) mode = { mode: wished, source: config.at(name) };
          else leave('mode_left', name, `There is no mode "${wished}" here.`);
        } else {
          const advice = IN_PERMISSIONS.get(String(name.value)) ?? '';
          leave('setting_left', name, `"${name.value}" in permissions has no meaning here. ${advice}`.trim());
        }
      }
    }
  }
  return { rules, ...(mode && { mode }) };
}

function readRules(
  config: ConfigFile,
  kind: RuleKind,
  list: Node,
  target: string,
  left: Reason[],
): readonly TakenRule[] {
  if (list.type !== 'array') {
    left.push(
      hostReason('setting_left', `"${kind}" is ${kindOf(list)}; a list of rules is expected.`, config.at(list)),
    );
    return [];
  }
  const taken: TakenRule[] = [];
  for (const node of list.children ?? []) {
    const from = config.at(node);
    const rule = jsonOf(node);
    const text = typeof rule === 'string' ? rule : JSON.stringify(rule);
    const problem = problemOf(kind, rule);
    if (typeof rule !== 'string' || problem?.code === 'rule_empty') {
      left.push(hostReason('rule_left', `The ${kind} rule ${text} is no rule.`, from));
    } else if (!/^mcp__/i.test(rule.trim()) && !/^\*+$/.test(rule.trim())) {
      const name = rule.replace(/\(.*$/s, '').trim();
      left.push(
        hostReason(
          'rule_left',
          `The ${kind} rule "${rule}" has no meaning here: there is no built-in tool ${name}.`,
          from,
        ),
      );
    } else if (kind === 'allow' && problem) {
      left.push(hostReason('rule_left', problem.text, from));
    } else taken.push({ kind, rule, file: target, from, ...(problem && { problem }) });
  }
  return taken;
}

/** What the policy itself would say about a rule. */
function problemOf(kind: RuleKind, rule: Json): Reason | undefined {
  const permissions = { [kind]: [rule as string] };
  return compilePolicy([{ scope: 'session', file: '', permissions, trusted: true }]).problems[0];
}

/** The rules that their target lacks; each once. */
async function notThereYet(rules: readonly TakenRule[], left: Reason[]): Promise<readonly TakenRule[]> {
  const fresh: TakenRule[] = [];
  for (const rule of rules) {
    const file = await readConfigFile(rule.file);
    const isThere = file !== undefined && listOf(file, rule.kind).includes(rule.rule);
    const isTwice = fresh.some((one) => one.kind === rule.kind && one.rule === rule.rule);
    if (isThere || isTwice) left.push(hostReason('rule_same', `"${rule.rule}" is in ${rule.file} already.`, rule.from));
    else fresh.push(rule);
  }
  return fresh;
}

function listOf(file: ConfigFile, kind: RuleKind): readonly Json[] {
  const permissions = valueAt(file.root, 'permissions');
  const list = permissions?.type === 'object' ? valueAt(permissions, kind) : undefined;
  if (list?.type === 'array') return (list.children ?? []).map(jsonOf);
  return list === undefined ? [] : [jsonOf(list)];
}

/** @returns whether the mode was written: one that the person chose here stays */
async function write(
  to: 'project' | 'user',
  target: string,
  root: string,
  rules: readonly TakenRule[],
  mode: string | undefined,
): Promise<boolean> {
  let wroteMode = false;
  const options = to === 'user' ? { access: 'private' as const } : { access: 'shared' as const, within: root };
  await editConfig(target, options, (file) => {
    const edits: ConfigEdit[] = [];
    for (const { kind, rule } of rules) edits.push({ path: ['permissions', kind], value: rule, append: true });
    wroteMode = mode !== undefined && (file === undefined || valueAt(file.root, 'mode') === undefined);
    if (wroteMode && mode !== undefined) edits.push({ path: ['mode'], value: mode });
    return edits;
  });
  return wroteMode;
}
