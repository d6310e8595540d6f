import type { Reason, Source } from '../contracts/index.ts';
import { loadProject, type Project, previewsFor, trustPrompt } from '../host/index.ts';
import { connectHttp, connectStdio, mcpSource } from '../mcp/client/index.ts';
import { type CompiledPolicy, compilePolicy, MODES } from '../policy/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { flag, listOption, stringOption } from './parse.ts';
import { styleFor } from './style.ts';

/** The project at hand, ready for an agent: its servers as sources (nothing is started yet) and its rules compiled. */
export interface Workspace {
  readonly project: Project;
  readonly compiled: CompiledPolicy;
  readonly sources: readonly Source[];
  /** Whether a person sits at the terminal and can be asked. */
  readonly attended: boolean;
  /** What its servers are to be warned about, as far as they were used. */
  notes(): readonly Reason[];
  /** Ends every server that was started. */
  close(): Promise<void>;
}

/**
 * Reads the project of the folder that the command was run in, settles its trust, and prints every warning.
 *
 * @throws BridleError `project_not_trusted`, `config_…`, and `usage` for a rule or mode on the command line that can't
 *   be read
 */
export async function openWorkspace(parsed: ParsedCommand, io: CommandIo, signal: AbortSignal): Promise<Workspace> {
  const attended = io.stdin.isTTY === true && io.stderr.isTTY === true;
  const mode = stringOption(parsed, 'mode');
  // Before anybody is asked about trust.
  if (mode !== undefined) refuseBadFlags(compilePolicy([], { mode }).problems, mode);
  const project = await loadProject({
    cwd: io.cwd,
    env: io.env,
    mcpConfigFiles: listOption(parsed, 'mcp-config'),
    allow: listOption(parsed, 'allow'),
    trustProject: flag(parsed, 'trust-project'),
    signal,
    ...(mode !== undefined && { mode }),
    ...(attended && { askTrust: trustPrompt({ input: io.stdin, output: io.stderr }) }),
  });
  const compiled = compilePolicy(project.layers, project.mode === undefined ? {} : { mode: project.mode });
  refuseBadFlags(compiled.problems, mode);
  warn([...project.warnings, ...compiled.problems], io);
  for (const { key, reasons } of project.notStarted) {
    // Whoever disabled a server knows that it doesn't start; `tools list --json` and `explain` still say so.
    for (const reason of reasons.filter(({ code }) => code !== 'disabled'))
      warn([{ ...reason, text: `Server "${key}" is not started: ${reason.text}` }], io);
  }
  const connections = project.servers.map((server) =>
    server.kind === 'http' ? connectHttp(server) : connectStdio(server, { projectRoot: project.root }),
  );
  return {
    project,
    compiled,
    attended,
    sources: connections.map((connection) =>
      mcpSource(connection, { previews: previewsFor(project.previews, connection.server.key) }),
    ),
    notes: () =>
      connections.flatMap((connection) =>
        connection.status().reasons.filter(({ code }) => code === 'mcp_old_transport'),
      ),
    async close() {
      await Promise.all(connections.map((connection) => connection.close()));
    },
  };
}

/** What stands in a file is reported and lived with; what was just typed can be typed again. */
function refuseBadFlags(problems: readonly Reason[], mode: string | undefined): void {
  const hint = "See 'bridle run --help'.";
  if (mode !== undefined && problems.some(({ code }) => code === 'mode_unknown')) {
    throw new BridleError('usage', `There is no mode '${printable(mode)}'. The modes are ${MODES.join(', ')}.`, {
      hint,
    });
  }
  const rule = problems.find(({ source }) => source?.file === '--allow');
  if (rule) throw new BridleError('usage', rule.text, { hint });
}

/** Prints reasons as warnings on stderr, each with its place. */
export function warn(reasons: readonly Reason[], io: CommandIo): void {
  const style = styleFor(io.stderr, io.env);
  for (const reason of reasons) io.stderr.write(`${style.yellow('warning:')} ${reasonLine(reason)}\n`);
}

/** A reason with the place it comes from, on one line. */
export function reasonLine({ text, source }: Reason): string {
  const place = source ? ` (${source.file}${source.line === undefined ? '' : `:${source.line}`})` : '';
  return printable(`${text}${place}`);
}
