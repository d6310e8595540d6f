import { resolve } from 'node:path';
import type {
  Connection,
  ConnectionEra,
  ConnectionStatus,
  Json,
  JsonObject,
  RawJson,
  Reason,
  ServerRef,
} from '../../contracts/index.ts';
import { printable } from '../../tools/index.ts';
import { childEnvironment } from './child-env.ts';
import { eraVerdicts, type Negotiated } from './era.ts';
import { McpError, messageOf, withExecuted } from './errors.ts';
import { listenForChanges } from './listen.ts';
import { noiseLog } from './noise-log.ts';
import { CODES } from './protocol.ts';
import { restartGuard } from './restart-guard.ts';
import { commandLine, withoutSecrets } from './secrets.ts';
import { type StdioServer, serverFingerprint } from './server.ts';
import type { RequestContext } from './session.ts';
import { type Live, type StartPlan, startServer } from './start-server.ts';
import type { Launch, StdioProcess } from './stdio-process.ts';
import { untilAborted } from './until-aborted.ts';

export interface StdioOptions {
  /** Where a server without `cwd` runs. Default: this process's working directory. */
  readonly projectRoot?: string;
  /** What servers may ask of the host (MCP ClientCapabilities). Default: nothing. */
  readonly capabilities?: JsonObject;
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
  /** The limits of the server's entry, where it has some. Milliseconds. */
  readonly limits: { readonly idleMs?: number; readonly hardMs?: number };
  /** What the server said of itself when it started; null before. */
  readonly about: Pick<Negotiated, 'capabilities' | 'instructions' | 'serverInfo'> | null;
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

const open = new Set<StdioConnection>();

/** Closes every connection of this process; resolves when all their process groups are gone. */
export async function closeAll(): Promise<void> {
  await Promise.allSettled([...open].map((connection) => connection.close()));
}

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
  const name = `MCP server ${printable(JSON.stringify(server.key))} (${printable(commandLine(server))})`;
  const guard = restartGuard(name);
  const noise = noiseLog(clean);
  const listeners = new Set<(method: string, params: RawJson) => void>();
  const children = new Set<StdioProcess>();
  let starts = 0;
  let stray = 0;
  let live: Live | null = null;
  let about: Negotiated | null = null;
  let starting: Promise<Live> | null = null;
  let lastFailure: McpError | null = null;
  let closing: Promise<void> | null = null;

  const closed = (executed: 'not_executed' | 'unknown') =>
    new McpError('mcp_closed', `${name} was closed.`, { executed });

  const notify = (method: string, params: RawJson) => {
    for (const listener of listeners) {
      try {
        listener(method, params);
      } catch {
        // One listener's fault is not the others'.
      }
    }
  };

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
    notification: notify,
    ...(options.input && { input: options.input }),
    launched(child) {
      children.add(child);
      void child.ended.then(() => child.stop()).then(() => children.delete(child));
    },
    ended(session, error) {
      if (live?.session !== session) return;
      live = null;
      lastFailure = error;
      guard.failed();
    },
  };

  const startOnce = (kept: StartPlan['kept']) => {
    if (closing) throw closed('not_executed');
    starts += 1;
    return startServer({ ...plan, kept });
  };

  const start = async (): Promise<Live> => {
    try {
      await guard.pause();
      let started = await startOnce(eraVerdicts.get(ref.fingerprint)?.kind);
      if (started === 'exited_on_probe') started = await startOnce('legacy');
      if (started === 'exited_on_probe') throw new Error('it exits when it is asked for its era');
      const restarted = about !== null;
      live = started;
      about = started.negotiated;
      lastFailure = null;
      listenForChanges(started.session, started.negotiated);
      // The tools of a new process may be others.
      if (restarted) notify('notifications/tools/list_changed', { text: '{}', parse: () => ({}) });
      return started;
    } catch (thrown) {
      const error =
        thrown instanceof McpError
          ? withExecuted(thrown, 'not_executed')
          : new McpError('mcp_start_failed', `${name} can't start: ${messageOf(thrown)}`, { executed: 'not_executed' });
      lastFailure = error;
      if (!closing) {
        guard.failed();
        eraVerdicts.forget(ref.fingerprint);
      }
      throw error;
    } finally {
      starting = null;
    }
  };

  const ready = (): Promise<Live> => {
    if (closing) return Promise.reject(closed('not_executed'));
    // One that has just exited is not written to any more: wait for its end, then start it again.
    if (live) return live.process.leaving() ? live.process.ended.then(ready) : Promise.resolve(live);
    if (starting) return starting;
    const stopped = guard.stopped(lastFailure);
    if (stopped) return Promise.reject(stopped);
    starting = start();
    return starting;
  };

  const reasons = (): Reason[] => {
    const list: Reason[] = [];
    const add = (code: string, text: string) => list.push({ room: 'mcp/client', code, text });
    const stopped = guard.stopped(lastFailure);
    if (stopped) add(stopped.code, `${stopped.message} ${stopped.hint ?? ''}`.trim());
    else if (lastFailure) add(lastFailure.code, `${lastFailure.message} ${lastFailure.hint ?? ''}`.trim());
    else if (!live && !starting && !closing) add('mcp_not_started', `${name} starts on first use.`);
    if (about) add('mcp_era', `${name} speaks ${about.era.revision}: ${about.era.provenBy} (${about.era.at}).`);
    const noisy = noise.count().all;
    if (noisy > 0) {
      const first = noise.first().length > 0 ? `: ${noise.first().join(' | ')}` : '';
      add('mcp_stdout_noise', `${name} wrote ${noisy} line(s) to stdout that are no MCP messages${first}`);
    }
    if (stray > 0) add('mcp_stray_answers', `${name} sent ${stray} message(s) that nothing waited for.`);
    return list;
  };

  const connection: StdioConnection = {
    server: ref,
    limits: {
      ...(server.idleMs !== undefined && { idleMs: server.idleMs }),
      ...(server.hardMs !== undefined && { hardMs: server.hardMs }),
    },
    get counters() {
      return { starts, noise: noise.count().all, stray };
    },
    get about() {
      return about;
    },
    get pid() {
      return live?.process.pid;
    },
    get era(): ConnectionEra | null {
      return about?.era ?? null;
    },
    async connect(signal) {
      guard.reset();
      await untilAborted(ready, signal, `Connecting to ${name}`);
    },
    async request(method, params, ctx) {
      const idleMs = server.idleMs ?? ctx.idleMs;
      const hardMs = server.hardMs ?? ctx.hardMs;
      const began = Date.now();
      const { session, process: child } =
        live && !live.process.leaving() ? live : await untilAborted(ready, ctx.signal, `${method} to ${name}`, hardMs);
      const limited: RequestContext = { ...ctx, idleMs, hardMs: Math.max(1, hardMs - (Date.now() - began)) };
      try {
        return await session.request(method, params, limited);
      } catch (error) {
        if (error instanceof McpError && error.rpc?.code === CODES.unsupportedVersion) {
          // What was proven is no longer true: find out anew on next use, but not for ever.
          eraVerdicts.forget(ref.fingerprint);
          if (live?.session === session) {
            live = null;
            lastFailure = error;
            guard.failed();
          }
          session.end(error);
          void child.stop();
        }
        throw error;
      }
    },
    onNotification(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    status(): ConnectionStatus {
      const state = closing
        ? 'closed'
        : live
          ? 'ready'
          : starting
            ? 'connecting'
            : lastFailure
              ? 'failed'
              : 'connecting';
      return { state, reasons: reasons() };
    },
    close() {
      closing ??= (async () => {
        live?.session.end(closed('unknown'));
        live = null;
        guard.interrupt();
        await Promise.allSettled([...children].map((child) => child.stop()));
        await starting?.catch(() => {});
        await Promise.allSettled([...children].map((child) => child.stop()));
        open.delete(connection);
      })();
      return closing;
    },
  };
  open.add(connection);
  return connection;
}
