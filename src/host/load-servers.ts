import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Json, Reason } from '../contracts/index.ts';
import { type ConfigFile, readConfigFile } from './config-file.ts';
import { rawEntries, valueAt } from './config-tree.ts';
import { shortSecrets } from '../mcp/client/index.ts';
import { adviseOn, isLoud } from './entry-advice.ts';
import { type McpEntry, type McpFile, readMcpFile } from './mcp-json.ts';
import type { NamedFile } from './named-files.ts';
import { hostReason } from './reason.ts';
import { expandEntry, type ServerEntry } from './server-entry.ts';
import type { ServerPlaces, ServerScope } from './server-places.ts';

/** Servers that came with a plugin: whoever installed it trusts them. */
export interface PluginServers {
  /** The plugin's name; its servers are called `plugin_<name>_<server>`. */
  readonly name: string;
  /** Absolute path of a file in the shape of `.mcp.json`. */
  readonly file: string;
}

/** One entry of one file, used or not. */
export interface ListedServer {
  readonly key: string;
  readonly scope: ServerScope;
  /** Its file was named on the command line; of scope `local`. */
  readonly named?: true;
  readonly source: NonNullable<Reason['source']>;
  readonly state: 'ready' | 'disabled' | 'untrusted' | 'refused' | 'shadowed';
  /** Why it isn't ready. */
  readonly reasons: readonly Reason[];
  /** What is wise to change in it. */
  readonly advice: readonly Reason[];
  /** As it stands in the file, with its secrets. */
  readonly raw: Json;
}

/** The servers of one file. Groups come in order of precedence. */
export interface ServerGroup {
  readonly scope: ServerScope;
  readonly file: McpFile;
  readonly raw: ReadonlyMap<string, Json>;
  /** It goes before others because the person wants it so, and so nobody needs to be told. */
  readonly isMeant?: boolean;
  /** It was named on the command line, so its servers are only there where somebody names it. */
  readonly isNamed?: boolean;
  /** More that its entries may take in, such as the plugin's folder. */
  readonly variables?: ReadonlyMap<string, string>;
}

export function groupOf(scope: ServerScope, file: ConfigFile, ownKeys?: readonly string[]): ServerGroup {
  return { scope, file: readMcpFile(file, ownKeys), raw: rawEntries(file, 'mcpServers') };
}

/** Keys of a local file besides `mcpServers`: whose it is, and which servers the person turned off in this project. */
const LOCAL_KEYS = ['project', 'disabled'];

/** The groups of the person's own and the machine's files, and the names that the person turned off here. */
export async function readPlaces(
  places: ServerPlaces,
  plugins: readonly PluginServers[],
): Promise<{
  readonly groups: Readonly<Record<'managed' | 'local' | 'user' | 'plugin', readonly ServerGroup[]>>;
  readonly off: ReadonlyMap<string, NonNullable<Reason['source']>>;
}> {
  const local = await readConfigFile(places.local);
  const read = async (scope: 'managed' | 'user') => {
    const file = await readConfigFile(places[scope]);
    return file ? [groupOf(scope, file)] : [];
  };
  const fromPlugins: ServerGroup[] = [];
  for (const plugin of plugins) {
    const file = await readConfigFile(plugin.file);
    if (file) fromPlugins.push(pluginGroup(plugin, groupOf('plugin', file)));
  }
  return {
    groups: {
      managed: await read('managed'),
      local: local ? [{ ...groupOf('local', local, LOCAL_KEYS), isMeant: true }] : [],
      user: await read('user'),
      plugin: fromPlugins,
    },
    off: local ? turnedOff(local) : new Map(),
  };
}

/** The names under `disabled` of a local file. */
export function turnedOff(local: ConfigFile): ReadonlyMap<string, NonNullable<Reason['source']>> {
  const names = valueAt(local.root, 'disabled')?.children ?? [];
  return new Map(names.flatMap((name) => (name.type === 'string' ? [[String(name.value), local.at(name)]] : [])));
}

function pluginGroup({ name, file }: PluginServers, group: ServerGroup): ServerGroup {
  const called = (key: string) => `plugin_${name}_${key}`;
  return {
    ...group,
    file: { ...group.file, entries: group.file.entries.map((entry) => ({ ...entry, key: called(entry.key) })) },
    raw: new Map([...group.raw].map(([key, value]) => [called(key), value])),
    variables: new Map([['CLAUDE_PLUGIN_ROOT', dirname(file)]]),
  };
}

export interface Startable {
  readonly servers: readonly ServerEntry[];
  readonly notStarted: readonly { readonly key: string; readonly reasons: readonly Reason[] }[];
  readonly listed: readonly ListedServer[];
  readonly warnings: readonly Reason[];
}

export interface StartableOptions {
  /** Whether the project's own entries may start. */
  readonly trusted: boolean;
  /** Files of an untrusted project that servers of every folder would run or read there. */
  readonly lured: readonly NamedFile[];
  readonly off: ReadonlyMap<string, NonNullable<Reason['source']>>;
  readonly variables: ReadonlyMap<string, string>;
  readonly root: string;
}

/** The winner's whole entry counts: groups come in order of precedence, and nothing is merged. */
export async function startable(groups: readonly ServerGroup[], options: StartableOptions): Promise<Startable> {
  const servers: ServerEntry[] = [];
  const listed: ListedServer[] = [];
  const warnings: Reason[] = [];
  const taken = new Map<string, { readonly file: string; readonly isMeant: boolean }>();
  for (const group of groups) {
    const named = group.isNamed ? ({ named: true } as const) : {};
    for (const entry of group.file.entries) {
      const { key, source } = entry;
      const raw = group.raw.get(key) ?? null;
      const advice = adviseOn(key, raw, group.scope, source);
      const list = (state: ListedServer['state'], reasons: readonly Reason[]) =>
        void listed.push({ key, scope: group.scope, ...named, source, state, reasons, advice, raw });
      const winner = taken.get(key);
      if (winner) {
        const text = `"${key}" of ${source.file} is not used: ${winner.file} has a server of that name, which goes first.`;
        const reason = hostReason('server_shadowed', text, source);
        if (!winner.isMeant) warnings.push(reason);
        list('shadowed', [reason]);
        continue;
      }
      warnings.push(...advice.filter(isLoud));
      if (group.scope === 'project' && !options.trusted && entry.kind !== 'refused' && !options.off.has(key)) {
        // It takes no name: what nobody trusted doesn't stand in the way of the person's own server.
        list('untrusted', [hostReason('project_not_trusted', 'Its project is not trusted yet.', source)]);
        continue;
      }
      taken.set(key, { file: source.file, isMeant: group.isMeant === true });
      const settled = await settle(entry, group, options, warnings);
      if ('server' in settled) servers.push(settled.server);
      list(settled.state, settled.reasons);
    }
  }
  const notStarted = listed
    .filter(({ state }) => state !== 'ready' && state !== 'shadowed')
    .map(({ key, reasons }) => ({ key, reasons }));
  return { servers, notStarted, listed, warnings };
}

/** Scopes of servers that weren't put into this project by the person. */
const EVERYWHERE: ReadonlySet<ServerScope> = new Set(['managed', 'user', 'plugin']);

type Settled = { readonly state: ListedServer['state']; readonly reasons: readonly Reason[] };

async function settle(
  entry: McpEntry,
  { scope, variables }: ServerGroup,
  options: StartableOptions,
  warnings: Reason[],
): Promise<Settled | (Settled & { readonly server: ServerEntry })> {
  if (entry.kind === 'refused') {
    const disabled = entry.reasons.some(({ code }) => code === 'disabled');
    return { state: disabled ? 'disabled' : 'refused', reasons: entry.reasons };
  }
  const off = options.off.get(entry.key);
  if (off) {
    const text = `You disabled it in this project: 'bridle mcp enable' takes that back.`;
    return { state: 'disabled', reasons: [hostReason('disabled', text, off)] };
  }
  const lured = EVERYWHERE.has(scope) ? options.lured.filter(({ servers }) => servers.includes(entry.key)) : [];
  if (lured.length > 0) {
    const files = lured.map(({ path }) => path).join(', ');
    const text = `It would run or read files of this project, which is not trusted yet: ${files}.`;
    return { state: 'untrusted', reasons: [hostReason('project_not_trusted', text, entry.source)] };
  }
  const all = new Map([...options.variables, ...(variables ?? [])]);
  const expanded = expandEntry(entry, scope, all, options.root);
  warnings.push(...expanded.warnings, ...tooShort(entry.key, expanded.server, entry.source));
  const cwd = 'cwd' in expanded.server ? expanded.server.cwd : undefined;
  if (cwd === undefined || (await isFolder(cwd))) return { state: 'ready', reasons: [], server: expanded.server };
  return {
    state: 'refused',
    reasons: [hostReason('cwd_missing', `Its folder ${cwd} is not there.`, entry.source)],
  };
}

/** Said at once: nothing later tells that it stands in what the server says. */
function tooShort(key: string, server: ServerEntry, source: Reason['source']): readonly Reason[] {
  const [what, values] = server.kind === 'http' ? ['the header', server.headers] : ['the variable', server.env];
  return shortSecrets(values).map((name) => {
    const text = `"${key}": ${what} ${name} is too short to be hidden in what its server says; use a longer secret.`;
    return hostReason('secret_too_short', text, source);
  });
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
