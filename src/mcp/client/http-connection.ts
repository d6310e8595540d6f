import type { Connection, ConnectionEra, Json, JsonObject, RawJson, Reason, ServerRef } from '../../contracts/index.ts';
import { sha256 } from '../../tools/index.ts';
import { CODES, type LogLevel, MAX_FRAME_BYTES } from '../wire/index.ts';
import { eraVerdicts, type Negotiated } from './era.ts';
import { McpError } from './errors.ts';
import { type HttpClient, httpClient } from './http-client.ts';
import { httpCredentials } from './http-credentials.ts';
import type { HttpPlan } from './http-link.ts';
import { type HttpTarget, httpName, httpPlace } from './http-target.ts';
import { isObject } from './message.ts';
import { noiseLog } from './noise-log.ts';
import type { OldSse } from './old-sse.ts';
import { type HttpLink, openHttp } from './open-http.ts';
import { proxyFor } from './proxy.ts';
import { restartGuard } from './restart-guard.ts';
import { resultCache } from './result-cache.ts';
import { type CallLimits, type HttpServer, limitsOf, serverFingerprint } from './server.ts';
import type { RequestContext } from './session.ts';
import { StreamableHttp } from './streamable-http.ts';
import { type About, supervise } from './supervisor.ts';

export interface HttpOptions {
  /** Where the entry's `headersHelper` runs. Default: this process's working directory. */
  readonly projectRoot?: string;
  /** What servers may ask of the host (MCP ClientCapabilities). Default: nothing. */
  readonly capabilities?: JsonObject;
  /** From which level on the server is asked for its log messages. Default: it decides itself. */
  readonly logLevel?: LogLevel;
  /**
   * After how much silence of a stream of notifications the server is asked whether it is there, in milliseconds. Default
   * 60,000.
   */
  readonly silenceMs?: number;
  /** How long its answer to that is waited for, in milliseconds; then the stream is opened anew. Default 30,000. */
  readonly probeMs?: number;
  /** Answers a server's request that belongs to no running call. */
  readonly input?: (request: RawJson) => Promise<Json>;
}

/** A Connection over HTTP. */
export interface HttpConnection extends Connection {
  /** Connects now, also after the server was left alone for failing too often. Rejects with McpError. */
  connect(signal?: AbortSignal): Promise<void>;
  /**
   * Connects unless it is connected, and says what it said of itself. Rejects with McpError.
   *
   * @param ms longest wait, in milliseconds
   */
  ready(signal: AbortSignal, ms: number): Promise<About>;
  /** Has the server tell of changes of a resource, over all its links, until the returned function is called. */
  watch(uri: string): () => void;
  /** Where the server is, as messages tell it beside its key: its URL, without what may be secret. */
  readonly place: string;
  /** The limits of the server's entry, where it has some. */
  readonly limits: CallLimits;
  /** What the server said of itself; null before. */
  readonly about: About | null;
  readonly counters: {
    /** How often its era and its session were settled. */
    readonly starts: number;
    /** Lines and events of its streams that were no MCP messages. */
    readonly noise: number;
    /** Answers to nothing that was asked, and requests in the era that has none of the server. */
    readonly stray: number;
  };
  /** Why a tool must not be used over this transport; null when it may. */
  refuseTool(definition: RawJson): Reason | null;
}

const START_MS = 30_000;
const SILENCE_MS = 60_000;
const PROBE_MS = 30_000;
/** Pauses before a server that is out of order for a moment is tried again, at the start. */
const START_PAUSES_MS = [300, 1000] as const;

/** Errors by which a modern server says that it is one. */
const MODERN_ERRORS: ReadonlySet<number> = new Set([
  CODES.headerMismatch,
  CODES.missingCapability,
  CODES.unsupportedVersion,
]);

/**
 * Connects to an MCP server over HTTP: Streamable HTTP of both eras (MCP 2026-07-28, and 2025-11-25 and older), and the
 * old HTTP+SSE transport of 2024-11-05. Nothing is sent before the first request or `connect()`. A session that the
 * server forgot is opened anew, and the request that met this is sent once more: it is known not to have run.
 */
export function connectHttp(server: HttpServer, options: HttpOptions = {}): HttpConnection {
  const name = httpName(server);
  const credentials = httpCredentials(server, {
    name,
    cwd: options.projectRoot ?? process.cwd(),
    // What another may see is not for this one.
    changed: () => cache.drop(),
  });
  const { clean } = credentials;
  const subject = { name, clean, hasHelper: server.headersHelper !== undefined };
  const ref: ServerRef = {
    key: server.key,
    scope: server.scope,
    fingerprint: URL.canParse(server.url) ? serverFingerprint(new URL(server.url)) : sha256(server.url),
    trustAnnotations: server.trustAnnotations ?? false,
  };
  const guard = restartGuard(name, 'for_now');
  const noise = noiseLog(clean);
  const wires = new Set<StreamableHttp | OldSse>();
  let client: HttpClient | null = null;
  const cache = resultCache(server.url, () => credentials.headers);
  let starts = 0;
  let stray = 0;
  /** What the network or the sign-in last did to a request, until one succeeds again. */
  let trouble: McpError | null = null;

  const openOnce = (target: HttpTarget, kept: Negotiated | undefined): Promise<HttpLink> => {
    if (supervisor.closing) throw supervisor.closed('not_executed');
    starts += 1;
    client ??= httpClient(target, subject, proxyFor(target.url, name, process.env));
    const plan: HttpPlan = {
      subject,
      target,
      client,
      maxFrameBytes: server.maxFrameBytes ?? MAX_FRAME_BYTES,
      capabilities: options.capabilities ?? {},
      noise,
      silenceMs: options.silenceMs ?? SILENCE_MS,
      probeMs: options.probeMs ?? PROBE_MS,
      stray() {
        stray += 1;
      },
      notification: (method, params) => supervisor.notify(method, params),
      missed() {
        cache.drop();
        supervisor.missed();
      },
      lost(session, error) {
        const live = supervisor.live?.session === session;
        drop(session, error, true);
        // Whoever waits for news of the server's lists asks nothing, and would wait for ever.
        if (live && !supervisor.closing) void supervisor.ready().catch(() => {});
      },
      ...(options.input && { input: options.input }),
    };
    return openHttp({
      ...plan,
      mode: server.era ?? 'auto',
      oldFirst: server.transport === 'sse',
      kept,
      startMs: server.startMs ?? START_MS,
      made: (wire) => wires.add(wire),
    });
  };

  const supervisor = supervise<HttpLink>({
    logLevel: options.logLevel,
    name,
    server: ref,
    guard,
    unused: `${name} is asked on first use.`,
    async open(kept) {
      const target = await credentials.target();
      for (let tries = 0; ; tries += 1) {
        try {
          const link = await openOnce(target, kept);
          eraVerdicts.keep(ref.fingerprint, link.negotiated);
          trouble = null;
          return link;
        } catch (error) {
          const wait = START_PAUSES_MS[tries];
          const again = error instanceof McpError && error.passing && error.code !== 'mcp_start_timeout';
          if (!again || wait === undefined || supervisor.closing) throw error;
          await new Promise((resolve) => setTimeout(resolve, wait));
        }
      }
    },
    wrap: (message) =>
      new McpError('mcp_unreachable', `${name} can't be used: ${message}`, { executed: 'not_executed' }),
    stateOf,
    async stop() {
      credentials.close();
      await Promise.allSettled([...wires].map((wire) => wire.stop(supervisor.closed('unknown'))));
      wires.clear();
      client?.close();
      cache.close();
    },
  });

  // The first to hear of a change: whoever lists again because of it must get no answer of before.
  supervisor.onNotification((method) => {
    if (/\/list_changed$|^notifications\/resources\/updated$/.test(method)) cache.drop();
  });

  /** The link is of no use for new requests; what is in flight on it may still be answered. */
  const drop = (session: HttpLink['session'], error: McpError, failure = false) => {
    const wire = [...wires].find((one) => one.session === session);
    if (wire instanceof StreamableHttp) wire.retire();
    else void wire?.stop(error);
    for (const one of wires) if (one.done) wires.delete(one);
    supervisor.lost(session, error, failure);
  };

  const send = async (link: HttpLink, method: string, params: Json, ctx: RequestContext): Promise<RawJson> => {
    const { wire } = link;
    const isModern = link.negotiated.kind === 'modern';
    const kept = isModern && !ctx.signal.aborted ? cache.get(method, params) : undefined;
    const keep = cache.asking(method, params);
    const result = kept ?? (await link.session.request(method, params, ctx));
    if (isModern && kept === undefined) keep(result);
    // A link that was made since has to learn from it too.
    if (method === 'tools/list' && wire instanceof StreamableHttp) wire.learn(result);
    return result;
  };

  /**
   * Makes the refusal of a request that did not run go away, if that can be: a new session, another era, the headers
   * that a changed definition wants.
   */
  const mended = async (link: HttpLink, error: McpError, ctx: RequestContext): Promise<boolean> => {
    if (error.executed !== 'not_executed' || ctx.signal.aborted) return false;
    if (error.rpc?.code === CODES.headerMismatch && link.negotiated.kind === 'modern') {
      return relearn(link, ctx);
    }
    if (error.code === 'mcp_session_expired') {
      drop(link.session, error);
      return true;
    }
    if (!doubtful(link, error)) return false;
    eraVerdicts.forget(ref.fingerprint);
    drop(link.session, error);
    return true;
  };

  const relearn = async (link: HttpLink, ctx: RequestContext): Promise<boolean> => {
    cache.drop();
    let cursor: string | undefined;
    for (let page = 0; page < 100; page += 1) {
      const list = (await send(link, 'tools/list', cursor === undefined ? {} : { cursor }, ctx)).parse();
      cursor = isObject(list) && typeof list.nextCursor === 'string' ? list.nextCursor : undefined;
      if (cursor === undefined) return true;
    }
    return true;
  };

  return {
    server: ref,
    place: httpPlace(server),
    limits: limitsOf(server),
    get counters() {
      return { starts, noise: noise.count().all, stray };
    },
    get about() {
      return supervisor.about;
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
      const left = () => Math.max(1, hardMs - (Date.now() - began));
      for (let tries = 0; ; tries += 1) {
        const link = supervisor.usable ?? (await supervisor.readyFor(ctx.signal, method, left()));
        const limited: RequestContext = { ...ctx, idleMs, hardMs: left() };
        try {
          const result = await send(link, method, params, limited);
          trouble = null;
          return result;
        } catch (error) {
          if (!(error instanceof McpError)) throw error;
          if (isTrouble(error)) trouble = error;
          if (tries > 0 || !(await mended(link, error, limited).catch(() => false))) throw error;
        }
      }
    },
    onNotification: supervisor.onNotification,
    refuseTool(definition) {
      const wire = supervisor.live?.wire;
      const why = wire instanceof StreamableHttp ? wire.refuses(definition.parse()) : null;
      return why === null
        ? null
        : { room: 'mcp/client', code: 'mcp_bad_header_annotation', text: `${server.key}: ${why}.` };
    },
    status() {
      const { state, reasons } = supervisor.status((add) => {
        if (supervisor.about?.transport !== undefined) {
          const text = `${name} speaks the HTTP+SSE transport of 2024-11-05, which is deprecated: ask its author for Streamable HTTP.`;
          add('mcp_old_transport', text);
        }
        const noisy = noise.count().all;
        const first = noise.first().length > 0 ? `: ${noise.first().join(' | ')}` : '';
        if (noisy > 0)
          add('mcp_stream_noise', `${name} sent ${noisy} line(s) or event(s) that are no MCP messages${first}`);
        if (stray > 0) add('mcp_stray_answers', `${name} sent ${stray} message(s) that nothing waited for.`);
      });
      if (state !== 'ready' || !trouble) return { state, reasons };
      const text = `${trouble.message} ${trouble.hint ?? ''}`.trim();
      return {
        state: stateOf(trouble),
        reasons: [{ room: 'mcp/client', code: trouble.code, text }, ...reasons],
      };
    },
    close: () => supervisor.close(),
  };
}

/** 401 and 403 are about who asks, not about the server's health. */
function stateOf({ code }: McpError): 'needs_sign_in' | 'failed' {
  return code === 'mcp_unauthorized' || code === 'mcp_forbidden' ? 'needs_sign_in' : 'failed';
}

/** Whether a refused request says that the server is no longer of the era that was proven. */
function doubtful({ negotiated }: HttpLink, { status, rpc }: McpError): boolean {
  if (rpc?.code === CODES.unsupportedVersion) return true;
  if (negotiated.kind === 'legacy') {
    if (rpc) return MODERN_ERRORS.has(rpc.code);
    return status === 404 || status === 405;
  }
  if (status !== 400 && status !== 404 && status !== 405) return false;
  return !rpc || !(MODERN_ERRORS.has(rpc.code) || rpc.code === CODES.unknownMethod || rpc.code === CODES.invalidParams);
}

const TROUBLES: ReadonlySet<string> = new Set([
  'mcp_unauthorized',
  'mcp_headers_helper',
  'mcp_unreachable',
  'mcp_tls',
  'mcp_redirect',
  'mcp_proxy',
  'mcp_no_mcp_answer',
]);

/** Failures that say that the server as a whole can't be used at the moment. */
function isTrouble({ code }: McpError): boolean {
  return TROUBLES.has(code);
}
