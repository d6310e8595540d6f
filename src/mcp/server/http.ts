import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Identity, Json, ServeHandle, ServeHttp, ToolHost } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import { CODES, LEGACY_REVISIONS } from '../wire/index.ts';
import { EventStreams } from './event-stream.ts';
import { type Body, readBody } from './http-body.ts';
import { type LegacyHttp, legacyHttp } from './http-legacy.ts';
import { type ModernHttp, modernHttp } from './http-modern.ts';
import { isObject } from './is-object.ts';
import { isDeeperThan, MAX_DEPTH } from './json-text.ts';
import { isLoopback, refusedOrigin } from './loopback.ts';
import { versionIn } from './modern.ts';
import { note, notePreviews } from './notes.ts';
import { ANYONE } from './peer.ts';
import { sendJson } from './post-reply.ts';
import { endReady } from './response-ends.ts';
import { errorMessage, INTERNAL, RpcError, readIncoming } from './rpc.ts';
import { servedBy } from './served.ts';
import { sessionIds } from './session-id.ts';

const PATH = '/mcp';
/** Those of Streamable HTTP in all its revisions; the newest has POST alone. */
const METHODS: ReadonlySet<string> = new Set(['POST', 'GET', 'DELETE']);
const LIMITS = { bodyBytes: 10 * 1024 * 1024, streams: 20_000, sessions: 10_000 };
/** How long a client may take to send its headers, and its whole request, in milliseconds. */
const HEADERS_MS = 20_000;
const REQUEST_MS = 60_000;
const KEEP_ALIVE_MS = 65_000;
const MAX_HEADERS = 100;

/** Serves Streamable HTTP at `/mcp`; see `serve`. */
export async function serveOverHttp(host: ToolHost, options: ServeHttp): Promise<ServeHandle> {
  const bound = options.host ?? '127.0.0.1';
  const limits = { ...LIMITS, ...options.limits };
  const token = tokenOf(options);
  notePreviews(host);
  if (!isLoopback(bound) && options.identify === undefined && token === undefined) {
    note(`listening on ${bound} without identify or a token: whoever can reach it can call every tool`);
  }
  const served = servedBy(host);
  const streams = new EventStreams(limits.streams);
  const ids = sessionIds(options.sessionSecret);
  const modern = modernHttp(served, streams);
  const legacy = legacyHttp(served, streams, { ids, maxSessions: limits.sessions });
  const gate = gateFor(bound, options, token);
  const endpoint: Endpoint = { modern, legacy, gate, bodyBytes: limits.bodyBytes };
  const server = createServer((request, response) => {
    // Those that a client sends ahead wait for their turn: many small requests could want as many huge answers at once.
    if (response.socket) answer(endpoint, request, response);
    else response.once('socket', () => process.nextTick(answer, endpoint, request, response));
  });
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.maxHeadersCount = MAX_HEADERS;
  // Peers that vanish without a word are found by the system.
  server.on('connection', (socket) => socket.setKeepAlive(true, 30_000));
  const stop = () => {
    served.close();
    modern.close();
    legacy.close();
    streams.close();
  };
  try {
    await listen(server, options.port, bound);
  } catch (error) {
    stop();
    throw error;
  }
  // One connection that can't be accepted, as where no file descriptor is left, is no reason to end all others.
  server.on('error', (error) => note(`a connection failed: ${error.message}`));
  const { port } = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${bound.includes(':') ? `[${bound}]` : bound}:${port}${PATH}`,
    ...(token !== undefined && { token }),
    close() {
      closed ??= (async () => {
        const ended = new Promise<void>((resolve) => server.close(() => resolve()));
        stop();
        server.closeIdleConnections();
        // What was written last is on its way before the connections go.
        await new Promise((resolve) => setImmediate(resolve));
        endReady();
        server.closeAllConnections();
        await ended;
      })();
      return closed;
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error) => {
      reject(
        new BridleError('serve_address', `Can't listen on ${host}:${port}: ${cause.message}.`, {
          hint: 'Choose another port, 0 for any free one, or an address of this machine.',
          cause,
        }),
      );
    };
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

function tokenOf({ identify, token }: ServeHttp): string | undefined {
  if (identify !== undefined || token === false) return undefined;
  // Also for an empty one, as of a variable that is not set.
  return token || randomBytes(32).toString('base64url');
}

/** Who sent a request, or why it goes no further. */
type Gate = (request: IncomingMessage) => Identity | Refusal | Promise<Identity | Refusal>;
interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}
const UNAUTHORIZED: Refusal = { status: 401, message: 'Unauthorized', headers: { 'www-authenticate': 'Bearer' } };

/** `Host` and `Origin` of a client are the same with each request. */
const MAX_KNOWN = 256;

function gateFor(bound: string, { identify }: ServeHttp, token: string | undefined): Gate {
  const known = new Map<string, string | undefined>();
  const listener = { host: bound, identifies: identify !== undefined || token !== undefined };
  const refusal = (host: string | undefined, origin: string | undefined) => {
    // A header has no line end, so nothing that is sent looks like a header that is absent.
    const key = `${host ?? '\n'}${origin === undefined ? '' : `\n${origin}`}`;
    if (known.has(key)) return known.get(key);
    const refused = refusedOrigin(listener, { host, origin });
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(key, refused);
    return refused;
  };
  const expected = token === undefined ? undefined : digest(`Bearer ${token}`);
  return (request) => {
    const { host, origin, authorization } = request.headers;
    const target = targetOf(request);
    const refused = refusal(target.host ?? host, origin);
    if (refused !== undefined) return { status: 403, message: `Forbidden: ${refused}` };
    if (target.path !== PATH) return { status: 404, message: `Not found: the endpoint is ${PATH}` };
    if (!METHODS.has(request.method ?? '')) {
      return { status: 405, message: 'Method not allowed', headers: { allow: [...METHODS].join(', ') } };
    }
    if (identify) return identify(headersOf(request)).then((who) => who ?? UNAUTHORIZED);
    if (expected && !timingSafeEqual(digest(credentials(authorization)), expected)) return UNAUTHORIZED;
    return ANYONE;
  };
}

/** The name of a scheme is the same in any case (RFC 9110, 11.1). */
function credentials(authorization = ''): string {
  return authorization.replace(/^bearer +/i, 'Bearer ');
}

/** Of equal length whatever is given, so that the comparison takes the same time. */
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

interface Target {
  /** Counts, where there is one, and not the header of that name (RFC 9112, 3.2.2). */
  readonly host?: string | undefined;
  readonly path: string;
}

/** What a request is for, in both forms that a server takes: `/mcp?query`, and `http://host/mcp?query` as proxies get it. */
function targetOf({ url = '/' }: IncomingMessage): Target {
  if (url === PATH) return AT_PATH;
  const whole = url.startsWith('/') ? null : /^https?:\/\/([^/?#]*)/i.exec(url);
  const local = whole ? url.slice(whole[0].length) : url;
  const query = local.indexOf('?');
  return { host: whole?.[1], path: query === -1 ? local : local.slice(0, query) };
}
const AT_PATH: Target = { path: PATH };

/** Header names in lower case; repeated ones joined as RFC 9110 (5.3) says. */
function headersOf(request: IncomingMessage): Map<string, string> {
  const headers = new Map<string, string>();
  for (const [name, values] of Object.entries(request.headersDistinct)) {
    if (values !== undefined) headers.set(name, values.join(', '));
  }
  return headers;
}

interface Endpoint {
  readonly modern: ModernHttp;
  readonly legacy: LegacyHttp;
  readonly gate: Gate;
  readonly bodyBytes: number;
}

/** Never throws. Callbacks, since every request comes this way: what needs no waiting for takes no turn. */
function answer(endpoint: Endpoint, request: IncomingMessage, response: ServerResponse): void {
  const fail = (error: unknown) => {
    note(`a request failed: ${error instanceof Error ? error.message : String(error)}`);
    if (response.headersSent) response.destroy();
    else sendJson(response, 500, errorMessage(null, INTERNAL));
  };
  try {
    const admitted = endpoint.gate(request);
    if (admitted instanceof Promise) {
      admitted.then((who) => enter(endpoint, request, response, { who, fail })).catch(fail);
    } else enter(endpoint, request, response, { who: admitted, fail });
  } catch (error) {
    fail(error);
  }
}

interface Entering {
  readonly who: Identity | Refusal;
  readonly fail: (error: unknown) => void;
}

function enter(endpoint: Endpoint, request: IncomingMessage, response: ServerResponse, { who, fail }: Entering): void {
  // Nobody would tell what is begun now that its client has gone.
  if (response.destroyed) return;
  if ('status' in who) {
    const error = new RpcError(CODES.invalidRequest, who.message);
    // The rest of a body that nobody reads would be taken for the next request.
    const headers = request.method === 'POST' ? { ...who.headers, connection: 'close' } : who.headers;
    sendJson(response, who.status, errorMessage(null, error), headers);
    return;
  }
  if (request.method !== 'POST') {
    endpoint.legacy.answer(request, response, undefined, who).catch(fail);
    return;
  }
  readBody(request, endpoint.bodyBytes, (body) => {
    if (response.destroyed) return;
    try {
      const value = jsonOf(body, endpoint.bodyBytes);
      if ('status' in value) {
        const error = new RpcError(CODES.parse, value.message);
        sendJson(response, value.status, errorMessage(null, error), value.headers);
        return;
      }
      const { json } = value;
      const answered = isModern(request, json)
        ? endpoint.modern.answer(request, response, readIncoming(json), who)
        : endpoint.legacy.answer(request, response, json, who);
      answered.catch(fail);
    } catch (error) {
      fail(error);
    }
  });
}

function jsonOf(body: Body, limit: number): { readonly json: Json } | Refusal {
  if ('problem' in body) {
    if (body.problem === 'too_long') {
      // The rest of it is still on its way, and the connection can't be used for another request.
      return {
        status: 413,
        message: `Parse error: a body of more than ${limit} bytes`,
        headers: { connection: 'close' },
      };
    }
    if (body.problem === 'encoded') {
      return {
        status: 415,
        message: 'Unsupported media type: the body must not be compressed',
        headers: { 'accept-encoding': 'identity', connection: 'close' },
      };
    }
    return {
      status: 400,
      message: body.problem === 'gone' ? 'Parse error: no body' : 'Parse error: the body is not UTF-8',
    };
  }
  if (isDeeperThan(body.text, MAX_DEPTH)) {
    return { status: 400, message: `Parse error: nested more than ${MAX_DEPTH} levels deep` };
  }
  try {
    return { json: JSON.parse(body.text) as Json };
  } catch {
    return { status: 400, message: 'Parse error: the body is not JSON' };
  }
}

/**
 * Whether a request is one of those that stand for themselves: by what it carries in `_meta`, else by a header that names
 * a revision without sessions.
 */
function isModern(request: IncomingMessage, body: Json): boolean {
  if (isObject(body) && isObject(body.params) && versionIn(body.params) !== undefined) return true;
  if (isObject(body) && body.method === 'initialize') return false;
  const version = request.headers['mcp-protocol-version'];
  return typeof version === 'string' && !LEGACY_REVISIONS.has(version);
}
