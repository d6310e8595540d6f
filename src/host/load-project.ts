import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Reason } from '../contracts/index.ts';
import type { PolicyLayer } from '../policy/index.ts';
import { configDir, stateDir } from '../store/index.ts';
import { BridleError } from '../tools/index.ts';
import { type BridleFile, readBridleFile } from './bridle-json.ts';
import { readConfigFile } from './config-file.ts';
import { describeTrust, type TrustRequest } from './describe-trust.ts';
import { variablesOf } from './expand.ts';
import { type McpFile, readMcpFile } from './mcp-json.ts';
import { type PreviewMapping, previewMappings } from './previews.ts';
import { findProjectRoot } from './project-root.ts';
import { hostReason } from './reason.ts';
import { expandEntry, type ServerEntry } from './server-entry.ts';
import type { TrustAsker } from './trust-prompt.ts';
import { trustText } from './trust-prompt.ts';
import { trustStore } from './trust-store.ts';

export interface LoadProjectOptions {
  /** Where the person is; the project's folder is found from here. */
  readonly cwd: string;
  /** The environment that configuration may take in; also names the XDG places. Usually `process.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files named on the command line: naming one trusts its servers. Relative to `cwd`. */
  readonly mcpConfigFiles?: readonly string[];
  /** Allow rules for this session. */
  readonly allow?: readonly string[];
  /** The person's choice of mode; beats the one in their own `bridle.json`. */
  readonly mode?: string;
  /** Trust the project for this run, without remembering it. */
  readonly trustProject?: boolean;
  /** Asks about trust. Without one, an earlier approval is needed. */
  readonly askTrust?: TrustAsker;
  /** What happens without trust and without somebody to ask: `error` (default), or `leave` the project's part out. */
  readonly untrusted?: 'error' | 'leave';
  readonly signal?: AbortSignal;
  /** Absolute; for tests. The XDG places otherwise. */
  readonly configDir?: string;
  readonly stateDir?: string;
}

/** What a host has read: everything is checked, expanded and trusted. */
export interface Project {
  /** Absolute, without symbolic links. */
  readonly root: string;
  readonly servers: readonly ServerEntry[];
  readonly notStarted: readonly { readonly key: string; readonly reasons: readonly Reason[] }[];
  readonly layers: readonly PolicyLayer[];
  /** Undefined: nobody chose one. */
  readonly mode?: string;
  readonly previews: readonly PreviewMapping[];
  readonly warnings: readonly Reason[];
  readonly trusted: boolean;
  /** What the project's files ask for, whether it is trusted or not. */
  readonly trust: TrustRequest;
}

/**
 * Reads the user's and the project's configuration: `.mcp.json` and `bridle.json` of the project's folder, the user's
 * own `bridle.json`, and files named on the command line. Starts nothing.
 *
 * Without trust the project's servers, allow rules and previews are left out; its deny and ask rules hold at once.
 *
 * @throws BridleError `project_not_trusted` when the project asks for something, nobody trusted it and nobody can be
 *   asked; `config_…` when a file can't be read
 */
export async function loadProject(options: LoadProjectOptions): Promise<Project> {
  const root = await findProjectRoot(options.cwd);
  const userFile = await readConfigFile(join(options.configDir ?? configDir(options.env), 'bridle.json'));
  const user = userFile && readBridleFile(userFile, 'user');
  const files = {
    mcp: await readConfigFile(join(root, '.mcp.json')),
    bridle: await readConfigFile(join(root, 'bridle.json')),
  };
  const read = {
    mcp: files.mcp && readMcpFile(files.mcp),
    bridle: files.bridle && readBridleFile(files.bridle, 'project'),
  };
  const named = await readNamed(options);
  const { trust, trusted } = await settleTrust(options, root, files, read);

  const layers: PolicyLayer[] = [];
  if (user && userFile) layers.push(layerOf('user', userFile.path, user, true));
  if (read.bridle && files.bridle) layers.push(layerOf('project', files.bridle.path, read.bridle, trusted));
  if (options.allow?.length) {
    layers.push({ scope: 'session', file: '--allow', permissions: { allow: options.allow }, trusted: true });
  }
  const groups: ServerGroup[] = [
    ...named.map((file) => ({ scope: 'local' as const, file })),
    ...(read.mcp ? [{ scope: 'project' as const, file: read.mcp }] : []),
  ];
  const started = await startable(groups, trusted, variablesOf(options.env, root), root);
  const mode = options.mode ?? user?.mode;
  return {
    root,
    ...started,
    layers,
    ...(mode !== undefined && { mode }),
    previews: previewMappings(user?.previews ?? [], trusted ? (read.bridle?.previews ?? []) : []),
    warnings: [
      ...(user?.warnings ?? []),
      ...(read.bridle?.warnings ?? []),
      ...groups.flatMap(({ file }) => file.warnings),
      ...started.warnings,
    ],
    trusted,
    trust,
  };
}

function layerOf(scope: PolicyLayer['scope'], file: string, read: BridleFile, trusted: boolean): PolicyLayer {
  return { scope, file, permissions: read.permissions, lineOf: read.lineOf, trusted };
}

/** Later files first: as with other options, the last one named wins. */
async function readNamed({ cwd, mcpConfigFiles }: LoadProjectOptions): Promise<readonly McpFile[]> {
  const read: McpFile[] = [];
  for (const name of mcpConfigFiles ?? []) {
    const path = resolve(cwd, name);
    const file = await readConfigFile(path);
    if (!file) {
      throw new BridleError('config_missing', `There is no file ${path}.`, {
        hint: 'Check the path after --mcp-config.',
      });
    }
    read.unshift(readMcpFile(file));
  }
  return read;
}

async function settleTrust(
  options: LoadProjectOptions,
  root: string,
  files: Parameters<typeof describeTrust>[1],
  read: Parameters<typeof describeTrust>[2],
): Promise<{ readonly trust: TrustRequest; readonly trusted: boolean }> {
  const store = trustStore(options.stateDir ?? stateDir(options.env));
  const trust = describeTrust(root, files, read, await store.get(root));
  if (trust.covered || options.trustProject === true) return { trust, trusted: true };
  if (options.askTrust) {
    const trusted = await options.askTrust(trust, options.signal ?? new AbortController().signal);
    if (trusted) await store.put({ ...trust.record, at: new Date().toISOString() });
    return { trust, trusted };
  }
  if (options.untrusted === 'leave') return { trust, trusted: false };
  throw new BridleError(
    'project_not_trusted',
    `Nobody has agreed yet to what this folder starts.\n${trustText(trust)}`,
    {
      hint: 'Run bridle here in a terminal to look at it and agree, or give --trust-project for this run only.',
    },
  );
}

interface ServerGroup {
  readonly scope: ServerEntry['scope'];
  readonly file: McpFile;
}

/** The winner's whole entry counts: groups come in order of precedence, and nothing is merged. */
async function startable(
  groups: readonly ServerGroup[],
  trusted: boolean,
  variables: ReadonlyMap<string, string>,
  root: string,
): Promise<Pick<Project, 'servers' | 'notStarted' | 'warnings'>> {
  const servers: ServerEntry[] = [];
  const notStarted: { key: string; reasons: readonly Reason[] }[] = [];
  const warnings: Reason[] = [];
  const taken = new Map<string, NonNullable<Reason['source']>>();
  for (const { scope, file } of groups) {
    for (const entry of file.entries) {
      const { key, source } = entry;
      const winner = taken.get(key);
      if (winner) {
        const text = `"${key}" of ${source.file} is not used: ${winner.file} has a server of that name, which goes first.`;
        warnings.push(hostReason('server_shadowed', text, source));
        continue;
      }
      taken.set(key, source);
      const refuse = (code: string, text: string) =>
        void notStarted.push({ key, reasons: [hostReason(code, text, source)] });
      if (entry.kind === 'refused') notStarted.push({ key, reasons: entry.reasons });
      else if (scope === 'project' && !trusted) refuse('project_not_trusted', 'Its project is not trusted yet.');
      else {
        const expanded = expandEntry(entry, scope, variables, root);
        warnings.push(...expanded.warnings);
        const { server } = expanded;
        if (server.kind === 'http' || (await isFolder(server.cwd))) servers.push(server);
        else refuse('cwd_missing', `Its folder ${server.cwd} is not there.`);
      }
    }
  }
  return { servers, notStarted, warnings };
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
