import { type ContentCatalog, createContentCatalog } from '../catalog/index.ts';
import type { CallContext, Model, Policy, Reason, Source, ToolDefinition } from '../contracts/index.ts';
import {
  type AgentFile,
  CLIENT_CAPABILITIES,
  hooksToRun,
  isLent,
  lendModel,
  type Lent,
  linePrompter,
  type ListedHook,
  loadProject,
  MAIN_AGENT,
  previewsFor,
  type Project,
  type Prompter,
  resourceTools,
  serverRequests,
  trustPrompt,
} from '../host/index.ts';
import { connectHttp, connectStdio } from '../mcp/client/index.ts';
import { allowAll, type CompiledPolicy, compilePolicy, createHookSet, type HookSet, MODES } from '../policy/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { agentNamed, modeFor, policyFor } from './agent-option.ts';
import { wrapLines } from './chat/wrap.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { fingerprintOf } from './fingerprint-of.ts';
import { flag, listOption, stringOption } from './parse.ts';
import { serverLog, serverLogLevel } from './server-log.ts';
import { styleFor } from './style.ts';
import { givenInstructions } from './workspace-instructions.ts';
import { type WorkspacePins, workspacePins } from './workspace-pins.ts';
import { type ServerConnection, type WorkspaceServer, workspaceServer } from './workspace-server.ts';
import { type WorkspaceViews, workspaceViews } from './workspace-views.ts';

/** The project at hand, ready for an agent: its servers as sources (nothing is started yet) and its rules compiled. */
export interface Workspace {
  readonly project: Project;
  /** The rules as they are, whichever agent it is. */
  readonly rules: Policy;
  /** The rules as they hold for the agent. */
  readonly compiled: CompiledPolicy;
  /** The one that `--agent` names; undefined: the main one. */
  readonly agent: AgentFile | undefined;
  /** What is agreed to of the servers' tools and instructions. */
  readonly pins: WorkspacePins;
  /** Takes from another policy what the agent doesn't have, and what isn't agreed to. */
  narrow(policy: Policy): Policy;
  /** Commands behind events, of the person and of the project. */
  readonly hooks: HookSet;
  /** Narrower tools in place of some of theirs. */
  readonly views: WorkspaceViews;
  /** The tools of the servers, and those that read their resources. */
  readonly sources: readonly Source[];
  /** The servers' resources and prompts; empty until it is refreshed. */
  readonly content: ContentCatalog;
  readonly servers: readonly WorkspaceServer[];
  /** The person at the terminal; undefined where nobody can be asked. */
  readonly prompter: Prompter | undefined;
  /** Answers what servers ask of the host. */
  readonly input: NonNullable<CallContext['input']>;
  /** What the servers' authors say to the model, as far as they are trusted and the pins agree; empty where there is nothing. */
  instructions(): string;
  /** From here on, this is the model that servers may be lent. */
  lend(model: () => Model): void;
  /** What servers had of the model. */
  lent(): Lent;
  /** What its servers and views are to be warned about, as far as they were used. */
  notes(): readonly Reason[];
  /** Says what the pins found out so far, and from then on whatever they and the views do. */
  tell(note: (text: string) => void, warning: (reason: Reason) => void): void;
  /** Ends every server that was started. */
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  /** The person, where the command has its own way to talk with them. */
  readonly prompter?: Prompter;
  /** Whether what is new is pinned, or only looked at, or nothing is held back. Default: pinned. */
  readonly pinning?: 'record' | 'look' | 'none';
  /** What stands between a server and whoever calls it. */
  readonly reach?: (make: () => ServerConnection) => ServerConnection;
  /** Servers' questions are for those that call, who say themselves what they answer. Default: for the person here. */
  readonly asksCallers?: boolean;
}

/**
 * Reads the project of the folder that the command was run in, settles its trust, and prints every warning.
 *
 * @throws BridleError `project_not_trusted`, `config_…`, `agent_unknown`, `agent_unusable`, and `usage` for a rule or mode on the command line that can't
 *   be read
 */
export async function openWorkspace(
  parsed: ParsedCommand,
  io: CommandIo,
  signal: AbortSignal,
  options: WorkspaceOptions = {},
): Promise<Workspace> {
  const { prompter = personAt(io), pinning = 'record', reach = (make) => make(), asksCallers = false } = options;
  const mode = stringOption(parsed, 'mode');
  // Before anybody is asked about trust.
  if (mode !== undefined) refuseBadFlags(compilePolicy([], { mode }).problems, mode);
  serverLogLevel(parsed);
  const name = stringOption(parsed, 'agent');
  const project = await loadProject({
    cwd: io.cwd,
    env: io.env,
    mcpConfigFiles: listOption(parsed, 'mcp-config'),
    allow: listOption(parsed, 'allow'),
    trustProject: flag(parsed, 'trust-project'),
    signal,
    ...(mode !== undefined && { mode }),
    ...(name !== undefined && { agent: name }),
    ...(prompter && { askTrust: trustPrompt(prompter) }),
  });
  const log = serverLogLevel(parsed, project.serverLog);
  const agent = agentNamed(name, project);
  const modeInForce = modeFor(agent, project.mode);
  const rules = compilePolicy(project.layers, {
    root: project.root,
    ...(modeInForce !== undefined && { mode: modeInForce }),
  });
  const pins = await workspacePins(project, io, pinning);
  const views = await workspaceViews(project, io, pinning);
  const narrow = (policy: Policy) => pins.wrap(policyFor(agent, policy));
  const compiled = { ...rules, policy: narrow(rules.policy) };
  refuseBadFlags(compiled.problems, mode);
  const problems = [...compiled.problems, ...(await compiled.ready())];
  warn([...project.warnings, ...problems, ...(agent?.warnings ?? []), ...pins.problems, ...views.problems], io);
  for (const { key, reasons } of project.notStarted) {
    // Whoever disabled a server knows that it doesn't start; `tools list --json` and `explain` still say so.
    for (const reason of reasons.filter(({ code }) => code !== 'disabled'))
      warn([{ ...reason, text: `Server "${key}" is not started: ${reason.text}` }], io);
  }
  const style = styleFor(io.stderr, io.env);
  const hooks = await createHookSet(hooksToRun(project.hooks, { root: project.root, env: io.env }), {
    common: () => ({ cwd: io.cwd, permission_mode: modeInForce ?? 'default' }),
  });
  warn([...hooks.problems, ...heldBack(project.hooks)], io);
  let model: () => Model | undefined = () => undefined;
  const { lentTo, others } = lending(project);
  warn(others, io);
  const sampling = lendModel({
    servers: lentTo,
    // What is lent is no tool that a server defines.
    policy: policyFor(agent, rules.policy),
    who: { agent: name ?? MAIN_AGENT, via: 'terminal' },
    model: () => model(),
    ...(prompter && { prompter }),
  });
  const input = serverRequests({
    root: project.root,
    sampling,
    note: (text) => io.stderr.write(`${style.yellow('declined:')} ${printable(text)}\n`),
    ...(prompter && { prompter }),
  });
  const optionsFor = (key: string) => ({
    capabilities: asksCallers || lentTo.has(key) ? { ...CLIENT_CAPABILITIES, sampling: {} } : CLIENT_CAPABILITIES,
    input,
    // Who calls says how much of a server's log it wants; what isn't wanted goes no further than here.
    ...(asksCallers ? { logLevel: log.asked ?? 'debug' } : log.asked && { logLevel: log.asked }),
  });
  const show = (text: string) => (prompter ?? io.stderr).write(text);
  const servers = project.servers.map((server) =>
    workspaceServer(
      server.key,
      () => {
        const connection = reach(() =>
          server.kind === 'http'
            ? connectHttp(server, { ...optionsFor(server.key), projectRoot: project.root })
            : connectStdio(server, { ...optionsFor(server.key), projectRoot: project.root }),
        );
        connection.onNotification(serverLog(server.key, log.shown, style, show));
        return connection;
      },
      { previews: previewsFor(project.previews, server.key) },
    ),
  );
  const content = createContentCatalog({ sources: servers.map((server) => server.content) });
  // They see what stands behind a view, too, as nobody else asks about a tool whose view is stopped.
  const seenByPins = (of: ToolDefinition) =>
    void pins.wrap(allowAll()).view({ agent: MAIN_AGENT, via: 'terminal' }, of);
  return {
    project,
    rules: rules.policy,
    compiled,
    agent,
    pins,
    narrow,
    hooks,
    prompter,
    servers,
    input,
    content,
    views,
    sources: servers.flatMap((server) => [server.source, resourceTools(server.content)]),
    instructions: () => givenInstructions(servers, pins),
    lend(given) {
      model = given;
    },
    lent: sampling.lent,
    notes: () => [
      ...servers.flatMap(({ connection }) =>
        connection.status().reasons.filter(({ code }) => code === 'mcp_old_transport'),
      ),
      ...views.stopped(seenByPins),
    ],
    tell(note, warning) {
      pins.tell(note, warning);
      views.tell(warning, seenByPins);
    },
    async close() {
      content.close();
      await Promise.all(servers.map((server) => server.close()));
      await views.close();
      await pins.close();
    },
  };
}

/** To which of the servers the model is lent: a name may belong to another one in each folder. */
function lending({ sampling, servers }: Pick<Project, 'sampling' | 'servers'>) {
  const lentTo = new Map(sampling);
  const others = servers.flatMap((server): Reason[] => {
    const budget = sampling.get(server.key);
    const fingerprint = fingerprintOf(server);
    if (!budget || isLent(budget, fingerprint)) return [];
    lentTo.delete(server.key);
    const what = `"sampling" lends your model to a server "${server.key}" with the fingerprint ${budget.fingerprint}`;
    const text = `${what}. The one here has ${fingerprint ?? 'none'}, so it gets nothing.`;
    return [{ room: 'cli', code: 'sampling_other_server', text }];
  });
  return { lentTo, others };
}

function heldBack(hooks: readonly ListedHook[]): readonly Reason[] {
  return hooks.flatMap(({ entry, state, reason = '' }) => {
    if (state !== 'held_back') return [];
    const text = `A ${entry.event} hook is not run, so what it stands before does not happen. ${reason}`;
    return [{ room: 'cli', code: 'hook_held_back', text, source: entry.source }];
  });
}

/** Somebody who sees stderr and has a keyboard. */
export function isAttended(io: CommandIo): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY === true;
}

function personAt(io: CommandIo): Prompter | undefined {
  return isAttended(io) ? linePrompter({ input: io.stdin, output: io.stderr }) : undefined;
}

/** What stands in a file is reported and lived with; what was just typed can be typed again. */
function refuseBadFlags(problems: readonly Reason[], mode: string | undefined): void {
  if (mode !== undefined && problems.some(({ code }) => code === 'mode_unknown')) {
    throw new BridleError('usage', `There is no mode '${printable(mode)}'. The modes are ${MODES.join(', ')}.`, {
      hint: 'Correct --mode.',
    });
  }
  const rule = problems.find(({ source }) => source?.file === '--allow');
  if (rule)
    throw new BridleError('usage', rule.text, { hint: "Correct --allow; 'bridle tools list' shows the names." });
}

/** Prints reasons as warnings on stderr, each with its place. */
export function warn(reasons: readonly Reason[], io: CommandIo): void {
  const style = styleFor(io.stderr, io.env);
  const { isTTY, columns } = io.stderr;
  for (const reason of reasons) {
    const line = `${style.yellow('warning:')} ${reasonLine(reason)}`;
    io.stderr.write(`${isTTY && columns ? wrapLines(line, columns) : line}\n`);
  }
}

/** A reason with the place it comes from, on one line. */
export function reasonLine({ text, source }: Reason): string {
  const place = source ? ` (${source.file}${source.line === undefined ? '' : `:${source.line}`})` : '';
  return printable(`${text}${place}`);
}
