import { resolve } from 'node:path';
import type { Connection, ConnectionEra, Json, JsonObject, RawJson, ServerRef } from '../../contracts/index.ts';
import { printable } from '../../tools/index.ts';
import { CODES, type LogLevel } from '../wire/index.ts';
import { childEnvironment } from './child-env.ts';
import { eraVerdicts } from './era.ts';
import { McpError } from './errors.ts';
import { noiseLog } from './noise-log.ts';
import { restartGuard } from './restart-guard.ts';
import { commandLine, withoutSecrets } from './secrets.ts';
import { type CallLimits, limitsOf, type StdioServer, serverFingerprint } from './server.ts';
import type { RequestContext } from './session.ts';
import { type Live, type StartPlan, startServer } from './start-server.ts';
import type { Launch, StdioProcess } from './stdio-process.ts';
import { type About, type Link, supervise } from './supervisor.ts';

export interface StdioOptions {
  /** Where a server without `cwd` runs. Default: this process's working directory. */
  readonly projectRoot?: string;
  /** What servers may ask of the host (MCP ClientCapabilities). Default: nothing. */
  readonly capabilities?: JsonObject;
  /** From which level on the server is asked for its log messages. Default: it decides itself. */
  readonly logLevel?: LogLevel;
  /** Answers a server's request that belongs to no running call, such as `roots/list` after the handshake. */
  readonly input?: (request: RawJson) => Promise<Json>;
  /** How long silence on the probe is waited for, in milliseconds. Default 3,000. */
  readonly probeMs?: number;
  /** How long each step of a shutdown is waited for, in milliseconds. Default 2,000. */
  readonly stopMs?: number;
}

/** A Connection over stdio, with what only a child process has. */
export interface StdioConnection extends Connection {
  /** Starts the server now, also after it was given up for failing too often. Rejects with McpError. */
  connect(signal?: AbortSignal): Promise<void>;
  /**
   * Starts the server unless it runs, and says what it said of itself. Rejects with McpError.
   *
   * @param ms longest wait, in milliseconds
   */
  ready(signal: AbortSignal, ms: number): Promise<About>;
  /** Has the server tell of changes of a resource, over all its links, until the returned function is called. */
  watch(uri: string): () => void;
  /** Where the server is, as messages tell it beside its key: its command line, without secrets. */
  readonly place: string;
  /** The limits of the server's entry, where it has some. */
  readonly limits: CallLimits;
  /** What the server said of itself when it started; null before. */
  readonly about: About | null;
  readonly counters: {
    /** Process starts. */
    readonly starts: number;
    /** Lines on stdout that were no MCP messages. */
    readonly noise: number;
    /** Answers to nothing that was asked, and requests in the era that has none of the server. */
    readonly stray: number;
  };
  /** The running child, which is also its group. */
  readonly pid: number | undefined;
}

const START_MS = 30_000;
const PROBE_MS = 3000;

/**
 * Connects to an MCP server over stdio (MCP 2026-07-28 and 2025-11-25, stdio transport). Nothing starts before the first
 * request or `connect()`. A server that dies is started again on use, with growing pauses, until it has failed five
 * times within a minute.
 */
export function connectStdio(server: StdioServer, options: StdioOptions = {}): StdioConnection {
  const args = server.args ?? [];
  const root = options.projectRoot ?? process.cwd();
  const clean = (text: string) => withoutSecrets(text, server.env);
  const launch: Launch = {
    command: server.command,
    args,
    env: childEnvironment(process.env, server.env),
    cwd: server.cwd === undefined ? root : resolve(root, server.cwd),
    clean,
    ...(server.maxFrameBytes !== undefined && { maxFrameBytes: server.maxFrameBytes }),
    ...(options.stopMs !== undefined && { stopMs: options.stopMs }),
  };
  const ref: ServerRef = {
    key: server.key,
    scope: server.scope,
    fingerprint: serverFingerprint(server.command, args),
    trustAnnotations: server.trustAnnotations ?? false,
  };
  const place = printable(commandLine(server));
  const name = `MCP server ${printable(JSON.stringify(server.key))} (${place})`;
  const noise = noiseLog(clean);
  const children = new Set<StdioProcess>();
  let starts = 0;
  let stray = 0;

  const plan: Omit<StartPlan, 'kept'> = {
    name,
    launch,
    mode: server.era ?? 'auto',
    startMs: server.startMs ?? START_MS,
    probeMs: options.probeMs ?? PROBE_MS,
    capabilities: options.capabilities ?? {},
    noise,
    proven: (proof) => eraVerdicts.keep(ref.fingerprint, proof),
    stray() {
      stray += 1;
    },
    notification: (method, params) => supervisor.notify(method, params),
    ...(options.input && { input: options.input }),
    launched(child) {
      children.add(child);
      void child.ended.then(() => child.stop()).then(() => children.delete(child));
    },
    ended: (session, error) => supervisor.lost(session, error),
  };

  const startOnce = (kept: StartPlan['kept']) => {
    if (supervisor.closing) throw supervisor.closed('not_executed');
    starts += 1;
    return startServer({ ...plan, kept });
  };

  const supervisor = supervise<Live & Link>({
    logLevel: options.logLevel,
    name,
    server: ref,
    guard: restartGuard(name),
    unused: `${name} starts on first use.`,
    async open(kept) {
      try {
        let started = await startOnce(kept?.kind);
        if (started === 'exited_on_probe') started = await startOnce('legacy');
        if (started === 'exited_on_probe') throw new Error('it exits when it is asked for its era');
        const { process: child } = started;
        return { ...started, leaving: () => (child.leaving() ? child.ended : null) };
      } catch (error) {
        if (!supervisor.closing) eraVerdicts.forget(ref.fingerprint);
        throw error;
      }
    },
    wrap: (message) =>
      new McpError('mcp_start_failed', `${name} can't start: ${message}`, { executed: 'not_executed' }),
    stop: () => Promise.allSettled([...children].map((child) => child.stop())),
  });

  return {
    server: ref,
    place,
    limits: limitsOf(server),
    get counters() {
      return { starts, noise: noise.count().all, stray };
    },
    get about() {
      return supervisor.about;
    },
    get pid() {
      return supervisor.live?.process.pid;
    },
    get era(): ConnectionEra | null {
      return supervisor.about?.era ?? null;
    },
    connect: (signal) => supervisor.connect(signal),
    ready: async (signal, ms) => (await supervisor.readyFor(signal, 'Connecting', ms)).negotiated,
    watch: supervisor.watch,
    async request(method, params, ctx) {
      const idleMs = server.idleMs ?? ctx.idleMs;
      const hardMs = server.hardMs ?? ctx.hardMs;
      const began = Date.now();
      const { session, process: child } = supervisor.usable ?? (await supervisor.readyFor(ctx.signal, method, hardMs));
      const limited: RequestContext = { ...ctx, idleMs, hardMs: Math.max(1, hardMs - (Date.now() - began)) };
      try {
        return await session.request(method, params, limited);
      } catch (error) {
        if (error instanceof McpError && error.rpc?.code === CODES.unsupportedVersion) {
          // What was proven is no longer true: find out anew on next use, but not for ever.
          eraVerdicts.forget(ref.fingerprint);
          supervisor.lost(session, error);
          session.end(error);
          void child.stop();
        }
        throw error;
      }
    },
    onNotification: supervisor.onNotification,
    status: () =>
      supervisor.status((add) => {
        const noisy = noise.count().all;
        if (noisy > 0) {
          const first = noise.first().length > 0 ? `: ${noise.first().join(' | ')}` : '';
          add('mcp_stdout_noise', `${name} wrote ${noisy} line(s) to stdout that are no MCP messages${first}`);
        }
        if (stray > 0) add('mcp_stray_answers', `${name} sent ${stray} message(s) that nothing waited for.`);
      }),
    close: () => supervisor.close(),
  };
}
