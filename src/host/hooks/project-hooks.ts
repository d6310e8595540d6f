import { realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Reason } from '../../contracts/index.ts';
import type { Hook } from '../../policy/index.ts';
import { readConfigFile } from '../config-file.ts';
import { treeReader, valuesNamed } from '../config-tree.ts';
import { homeOf } from '../import/places.ts';
import type { McpEntry } from '../mcp-json.ts';
import { namedFiles } from '../named-files.ts';
import { commandHook, heldBackHook } from './command-hook.ts';
import { offBy, readDisableAllHooks, turnedOff } from './disable-hooks.ts';
import { type HookEntries, type HookEntry, type HookScope, placeOf, readHookEntries } from './hook-entry.ts';

export interface ScopedHook {
  readonly scope: HookScope;
  readonly entry: HookEntry;
  /** The place that turns it off. */
  readonly off?: NonNullable<Reason['source']>;
}

/** A hook of some file, and whether it is run. */
export interface ListedHook extends ScopedHook {
  readonly state: 'ready' | 'untrusted' | 'held_back' | 'unreadable' | 'disabled';
  /** Why it isn't run. */
  readonly reason?: string;
}

export interface HookFiles {
  readonly managed?: HookEntries | undefined;
  readonly user?: HookEntries | undefined;
  readonly local?: HookEntries | undefined;
  readonly project?: HookEntries | undefined;
}

export interface ReadHooks {
  /** In the order in which their reasons stand: managed, user, project, local. */
  readonly hooks: readonly ScopedHook[];
  /** Those of Claude Code's settings are among them. */
  readonly readsClaude: boolean;
  readonly warnings: readonly Reason[];
}

const CLAUDE_PROJECT_FILES = ['settings.json', 'settings.local.json'];

/**
 * All hooks of the person and of the project: those of the `bridle.json` files, and those of Claude Code's settings where
 * a file says so, the person's own only where the person's file does.
 *
 * An administrator's `disableAllHooks` turns all off, the person's all but an administrator's, and the one of their own
 * Claude Code settings those of Claude Code's settings.
 *
 * @param root the project's folder: absolute, without symbolic links
 * @throws BridleError `config_…` when a file can't be read
 */
export async function readHooks(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
  { managed, user, local, project }: HookFiles,
): Promise<ReadHooks> {
  const own = [managed, user, local].some((file) => file?.from.includes('claude') === true);
  const foreign = own || project?.from.includes('claude') === true ? await claudeHooks(root, env, own) : undefined;
  const all = managed?.off;
  const most = all ?? local?.off ?? user?.off;
  const scoped = (scope: HookScope, entries: readonly HookEntry[] | undefined, off: ScopedHook['off']) =>
    (entries ?? []).map((entry): ScopedHook => ({ scope, entry, ...offBy(off) }));
  const offHere = most ?? foreign?.off;
  return {
    hooks: [
      ...scoped('managed', managed?.hooks, all),
      ...scoped('user', user?.hooks, most),
      ...scoped('user', foreign?.user, offHere),
      ...scoped('project', project?.hooks, most),
      ...scoped('project', foreign?.project, offHere),
      ...scoped('local', local?.hooks, most),
    ],
    readsClaude: foreign !== undefined,
    warnings: [
      ...(foreign?.warnings ?? []),
      ...(all ? turnedOff('All hooks', all) : turnedOff("All hooks but an administrator's", most)),
      ...(most ? [] : turnedOff("All hooks of Claude Code's settings", foreign?.off)),
    ],
  };
}

async function claudeHooks(root: string, env: Readonly<Record<string, string | undefined>>, own: boolean) {
  const warnings: Reason[] = [];
  const read = async (path: string, owner: 'user' | 'project'): Promise<HookEntries> => {
    const file = await readConfigFile(path);
    if (!file) return { hooks: [], from: [] };
    const reader = treeReader(file);
    const { hooks } = readHookEntries(reader, valuesNamed(file.root, 'hooks'));
    const off = readDisableAllHooks(reader, valuesNamed(file.root, 'disableAllHooks'), owner);
    warnings.push(...reader.warnings);
    return { hooks, from: [], ...offBy(off) };
  };
  const path = join(homeOf(env), '.claude', 'settings.json');
  const real = await realpath(path).catch(() => path);
  // A file that lies in the project's folder is the project's word, whatever leads there.
  const user = own && relative(root, real).startsWith('..') ? await read(path, 'user') : undefined;
  const project: HookEntry[] = [];
  for (const name of CLAUDE_PROJECT_FILES) project.push(...(await read(join(root, '.claude', name), 'project')).hooks);
  return { user: user?.hooks ?? [], project, warnings, ...offBy(user?.off) };
}

/** A hook's command as the command of a server, to find the files of the project that it names. */
export function hookCommands(hooks: readonly ScopedHook[]): readonly McpEntry[] {
  return hooks.flatMap(({ entry }): McpEntry[] => {
    if (!('command' in entry)) return [];
    const { event, source, hash, command } = entry;
    return [
      {
        kind: 'stdio',
        key: `hook ${event}`,
        source,
        hash,
        command: '/bin/sh',
        args: ['-c', command],
        env: new Map(),
        trustAnnotations: false,
        limits: new Map(),
      },
    ];
  });
}

/**
 * Which hooks are run. Those of the project only where it is trusted; those of the person everywhere, unless they run a
 * file of a project that isn't: what such a hook stands before doesn't happen then, nor what one stands before that
 * can't be read. None that is turned off.
 */
export async function settleHooks(
  hooks: readonly ScopedHook[],
  at: { readonly trusted: boolean; readonly root: string; readonly variables: ReadonlyMap<string, string> },
): Promise<readonly ListedHook[]> {
  return Promise.all(
    hooks.map(async (hook): Promise<ListedHook> => {
      if (hook.off) return { ...hook, state: 'disabled', reason: `It is turned off by ${placeOf(hook.off)}.` };
      if (hook.scope === 'project' && !at.trusted) {
        return { ...hook, state: 'untrusted', reason: 'It comes from a project that is not trusted.' };
      }
      if ('problem' in hook.entry) return { ...hook, state: 'unreadable', reason: hook.entry.problem };
      if (at.trusted) return { ...hook, state: 'ready' };
      // The person put it into this very project.
      if (hook.scope === 'local') return { ...hook, state: 'ready' };
      const [file] = await namedFiles(hookCommands([hook]), at.root, at.variables);
      if (!file) return { ...hook, state: 'ready' };
      const reason = `It runs or reads ${file.path} of this folder, and the folder is not trusted.`;
      return { ...hook, state: 'held_back', reason };
    }),
  );
}

/** The hooks that a session gets. */
export function hooksToRun(
  listed: readonly ListedHook[],
  at: { readonly root: string; readonly env: Readonly<Record<string, string | undefined>> },
): readonly Hook[] {
  return listed.flatMap(({ entry, state, reason = '' }) => {
    if (state === 'untrusted' || state === 'disabled') return [];
    return [state === 'ready' && 'command' in entry ? commandHook(entry, at) : heldBackHook(entry, reason)];
  });
}
