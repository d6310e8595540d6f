import { join, resolve } from 'node:path';
import type { Reason } from '../contracts/index.ts';
import type { PolicyLayer, View } from '../policy/index.ts';
import { configDir, stateDir } from '../store/index.ts';
import { BridleError } from '../tools/index.ts';
import { readAgents } from './agents/load-agents.ts';
import { type ListedAgent, settleAgents } from './agents/settle-agents.ts';
import type { ApprovalSettings } from './approval-settings.ts';
import { type AuditSettings, mergedAudit } from './audit-settings.ts';
import { type BridleFile, readBridleFile } from './bridle-json.ts';
import { type ForeignRules, ignoredSettings, readClaudeRules } from './claude-settings.ts';
import { readConfigFile } from './config-file.ts';
import { agentItemName, describeTrust, type TrustRequest } from './describe-trust.ts';
import { variablesOf } from './expand.ts';
import { hookCommands, type ListedHook, readHooks, settleHooks } from './hooks/project-hooks.ts';
import {
  groupOf,
  type ListedServer,
  type PluginServers,
  readPlaces,
  type ServerGroup,
  type Startable,
  startable,
} from './load-servers.ts';
import { namedFiles } from './named-files.ts';
import { layerOf, readOwnRules } from './own-rules.ts';
import { mergedPins, type PinSettings } from './pin-settings.ts';
import { type PreviewMapping, previewMappings } from './previews.ts';
import { findProjectRoot } from './project-root.ts';
import { mergeViews } from './read-views.ts';
import type { SamplingBudget } from './sampling.ts';
import { serverPlaces } from './server-places.ts';
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
  /** The agent that is about to be used: where it is one of the project's, its file has to be trusted too. */
  readonly agent?: string;
  /** Trust the project for this run, without remembering it. */
  readonly trustProject?: boolean;
  /** Asks about trust. Without one, an earlier approval is needed. */
  readonly askTrust?: TrustAsker;
  /** What happens without trust and without somebody to ask: `error` (default), or `leave` the project's part out. */
  readonly untrusted?: 'error' | 'leave';
  /** Servers of plugins, which go after all others. */
  readonly plugins?: readonly PluginServers[];
  readonly signal?: AbortSignal;
  /** Absolute; for tests. The machine's and the XDG places otherwise. */
  readonly managedFile?: string;
  readonly configDir?: string;
  readonly stateDir?: string;
}

/** What a host has read: everything is checked, expanded and trusted. */
export interface Project {
  /** Absolute, without symbolic links. */
  readonly root: string;
  readonly servers: Startable['servers'];
  readonly notStarted: Startable['notStarted'];
  /** Every entry of every file, those that others go before included. */
  readonly listed: readonly ListedServer[];
  readonly layers: readonly PolicyLayer[];
  /** Undefined: nobody chose one. */
  readonly mode?: string;
  /** From which level on servers' log messages are asked for and shown; undefined: nobody said. */
  readonly serverLog?: NonNullable<BridleFile['serverLog']>;
  readonly previews: readonly PreviewMapping[];
  /** Narrower tools in place of some. */
  readonly views: readonly View[];
  /** What each server may use of the model, by key. */
  readonly sampling: ReadonlyMap<string, SamplingBudget>;
  /** Every agent file there is; those that are `ready` may be used. */
  readonly agents: readonly ListedAgent[];
  /** Every hook there is, and whether it is run. */
  readonly hooks: readonly ListedHook[];
  /** The person's own word goes before the project's, each key alone. */
  readonly approvals: ApprovalSettings;
  /** What is written down of calls; a project's file makes it tell less of them, and never turns it off. */
  readonly audit: AuditSettings;
  /** How tools are pinned; a project's file adds its lock, and takes nothing away. */
  readonly pins: PinSettings;
  readonly warnings: readonly Reason[];
  /** Those of them because of which servers may be configured that are not `listed`. */
  readonly unread: readonly Reason[];
  readonly trusted: boolean;
  /** What the project's files ask for, whether it is trusted or not. */
  readonly trust: TrustRequest;
}

/**
 * Reads the user's and the project's configuration: `.mcp.json` and `bridle.json` of the project's folder, the user's
 * own servers and rules, managed servers, and files named on the command line. Starts nothing.
 *
 * Of servers that share a name the whole entry of the first counts: managed, named on the command line, local, project,
 * user, plugin.
 *
 * Without trust the project's servers, allow rules and previews are left out; its deny and ask rules hold at once.
 *
 * @throws BridleError `project_not_trusted` when the project asks for something, nobody trusted it and nobody can be
 *   asked; `config_…` when a file can't be read
 */
export async function loadProject(options: LoadProjectOptions): Promise<Project> {
  const root = await findProjectRoot(options.cwd);
  const rules = await readOwnRules(root, options, options.mode);
  const files = {
    mcp: await readConfigFile(join(root, '.mcp.json')),
    bridle: await readConfigFile(join(root, 'bridle.json')),
  };
  const read = {
    mcp: files.mcp && groupOf('project', files.mcp),
    bridle: files.bridle && readBridleFile(files.bridle, 'project'),
  };
  const named = await readNamed(options);
  const { groups: own, off } = await readPlaces(serverPlaces(root, options), options.plugins ?? []);
  const variables = variablesOf(options.env, root);
  const everywhere = [...own.managed, ...own.user, ...own.plugin].flatMap(({ file }) => file.entries);
  const {
    hooks,
    readsClaude,
    warnings: hookWarnings,
  } = await readHooks(root, options.env, {
    ...rules.hooks,
    project: read.bridle?.hooks,
  });
  const commands = [...(read.mcp?.file.entries ?? []), ...everywhere, ...hookCommands(hooks)];
  const programs = await namedFiles(commands, root, variables);
  const agents = await readAgents({ root, env: options.env, configDir: options.configDir ?? configDir(options.env) });
  const ofProject = agents.agents.filter(({ scope }) => scope === 'project');
  const asked = { files: ofProject, isAsked: ofProject.some(({ name }) => name === options.agent) };
  const foreign = await foreignRules(root, options, rules.from, read.bridle?.from ?? []);
  const known = await trustStore(options.stateDir ?? stateDir(options.env)).get(root);
  const described = describeTrust(
    root,
    files,
    {
      mcp: read.mcp?.file,
      bridle: read.bridle,
      foreign: foreign.filter(({ owner }) => owner === 'project'),
      hooks: hooks.filter(({ scope }) => scope === 'project').map(({ entry }) => entry),
    },
    known,
    programs,
    asked,
    await ignoredSettings(root, { hooks: readsClaude }),
  );
  const { trust, trusted, isNew } = await settleTrust(options, described);

  const layers: PolicyLayer[] = [...rules.layers];
  if (read.bridle && files.bridle) layers.push(layerOf('project', files.bridle.path, read.bridle, trusted));
  for (const read of foreign) layers.push(layerOf(read.owner, read.file, read, read.owner === 'user' || trusted));
  if (options.allow?.length) {
    layers.push({ scope: 'session', file: '--allow', permissions: { allow: options.allow }, trusted: true });
  }
  const groups: ServerGroup[] = [
    ...own.managed,
    ...named,
    ...own.local,
    ...(read.mcp ? [read.mcp] : []),
    ...own.user,
    ...own.plugin,
  ];
  const lured = trusted ? [] : await namedFiles(everywhere, root, variables);
  const started = await startable(groups, { trusted, lured, off, variables, root });
  const { mode, serverLog } = rules;
  const narrowed = mergeViews([...rules.views, trusted ? (read.bridle?.views ?? []) : []]);
  return {
    root,
    ...started,
    layers,
    ...(mode !== undefined && { mode }),
    ...(serverLog !== undefined && { serverLog }),
    previews: previewMappings(rules.previews, trusted ? (read.bridle?.previews ?? []) : []),
    views: narrowed.views,
    sampling: rules.sampling,
    agents: settleAgents(agents, (agent) => {
      const name = agentItemName(agent, root);
      return isNew || (trusted && trust.items.some((item) => item.name === name && item.state === 'same'));
    }),
    approvals: { ...(trusted && read.bridle?.approvals), ...rules.approvals },
    audit: mergedAudit(rules.managedAudit, [...rules.audit, ...(read.bridle?.audit ? [read.bridle.audit] : [])]),
    pins: mergedPins(rules.pins, read.bridle?.pins),
    hooks: await settleHooks(hooks, { trusted, root, variables }),
    warnings: [
      ...rules.warnings,
      ...narrowed.warnings,
      ...hookWarnings,
      ...(read.bridle?.warnings ?? []),
      ...foreign.flatMap(({ warnings }) => warnings),
      ...groups.flatMap(({ file }) => file.warnings),
      ...started.warnings,
    ],
    unread: groups.flatMap(({ file }) => file.unread),
    trusted,
    trust,
  };
}

/** Rules of other programs' settings, where a file says so; the person's own only where the person's file does. */
async function foreignRules(
  root: string,
  { env }: LoadProjectOptions,
  ownFrom: BridleFile['from'],
  projectFrom: BridleFile['from'],
): Promise<readonly ForeignRules[]> {
  const own = ownFrom.includes('claude');
  return own || projectFrom.includes('claude') ? readClaudeRules(root, env, { own }) : [];
}

/** Later files first: as with other options, the last one named wins. */
async function readNamed({ cwd, mcpConfigFiles }: LoadProjectOptions): Promise<readonly ServerGroup[]> {
  const read: ServerGroup[] = [];
  for (const name of mcpConfigFiles ?? []) {
    const path = resolve(cwd, name);
    const file = await readConfigFile(path);
    if (!file) {
      throw new BridleError('config_missing', `There is no file ${path}.`, {
        hint: 'Check the path after --mcp-config.',
      });
    }
    read.unshift({ ...groupOf('local', file), isNamed: true });
  }
  return read;
}

async function settleTrust(
  options: LoadProjectOptions,
  trust: TrustRequest,
): Promise<{
  readonly trust: TrustRequest;
  readonly trusted: boolean;
  /** All of it was agreed to just now. */
  readonly isNew: boolean;
}> {
  if (options.trustProject === true) return { trust, trusted: true, isNew: true };
  if (trust.covered) return { trust, trusted: true, isNew: false };
  if (options.askTrust) {
    const trusted = await options.askTrust(trust, options.signal ?? new AbortController().signal);
    if (trusted) {
      const store = trustStore(options.stateDir ?? stateDir(options.env));
      await store.put({ ...trust.record, at: new Date().toISOString() });
    }
    return { trust, trusted, isNew: trusted };
  }
  if (options.untrusted === 'leave') return { trust, trusted: false, isNew: false };
  throw new BridleError(
    'project_not_trusted',
    `Nobody has agreed yet to what this folder starts.\n${trustText(trust)}`,
    {
      hint: 'Run bridle here in a terminal to look at it and agree, or give --trust-project for this run only.',
    },
  );
}
