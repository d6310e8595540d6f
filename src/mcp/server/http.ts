import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Identity, ServeAt, ServeHandle, ToolHost } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import { streamWhenLate } from './late-stream.ts';
import { type LegacySessions, legacySessions } from './legacy-sessions.ts';
import { isLoopback, refusedOrigin } from './loopback.ts';
import { note, notePreviews } from './notes.ts';
import { ANYONE, type Peer, type Sdk } from './peer.ts';
import { createServer } from './relay.ts';
import { type ResourceUpdates, resourceUpdates } from './resource-updates.ts';
import { METHOD_NOT_FOUND, MISSING_CAPABILITY } from './rpc-error.ts';
import { headersOf, readBody, sendError, sendWebResponse, toWebRequest } from './web-bridge.ts';

type HttpOptions = Extract<ServeAt, { http: unknown }>['http'];
type ModernHandler = ReturnType<Sdk['createMcpHandler']>;

const PATH = '/mcp';
/** Those of Streamable HTTP in all its revisions; the newest has POST alone, which the SDK sees to. */
const METHODS: ReadonlySet<string> = new Set(['POST', 'GET', 'DELETE']);
/** Longest request body, in bytes: the same as a message over stdio. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** Serves Streamable HTTP at `/mcp`; see `serve`. */
export async function serveOverHttp(host: ToolHost, options: HttpOptions): Promise<ServeHandle> {
  const bound = options.host ?? '127.0.0.1';
  const sdk = await import('@modelcontextprotocol/server');
  notePreviews(host);
  if (!isLoopback(bound) && options.identify === undefined) {
    note(`listening on ${bound} without identify: whoever can reach it can call every tool`);
  }
  const modern = sdk.createMcpHandler(({ authInfo }) => createServer(sdk, host, peerIn(authInfo)), {
    legacy: 'reject',
    maxRequestBodySize: MAX_BODY_BYTES,
    onerror: (error) => note(error.message),
  });
  const legacy = legacySessions(sdk, host);
  const unsubscribe = host.onChange(() => {
    modern.notify.toolsChanged();
    legacy.toolsChanged();
  });
  const unfollow = host.content?.onChange(() => {
    modern.notify.resourcesChanged();
    modern.notify.promptsChanged();
    legacy.contentChanged();
  });
  const updates = resourceUpdates(host, (uri) => modern.notify.resourceUpdated(uri));
  const server = createHttpServer((request, response) => {
    answer({ sdk, modern, legacy, updates, bound, identify: options.identify }, request, response).catch(
      (error: unknown) => {
        note(`a request failed: ${error instanceof Error ? error.message : String(error)}`);
        if (response.headersSent) response.destroy();
        else sendError(response, 500, 'Internal server error', { rpc: -32603 });
      },
    );
  });
  await listen(server, options.port, bound);
  const { port } = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${bound.includes(':') ? `[${bound}]` : bound}:${port}${PATH}`,
    close() {
      closed ??= (async () => {
        unsubscribe();
        unfollow?.();
        const ended = new Promise<void>((resolve) => server.close(() => resolve()));
        await Promise.allSettled([modern.close(), legacy.close()]);
        server.closeAllConnections();
        await ended;
      })();
      return closed;
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        new BridleError('serve_address', `Can't listen on ${host}:${port}: ${cause.message}.`, {
          hint: 'Choose another port, 0 for any free one, or an address of this machine.',
          cause,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
}

/** The SDK carries the peer of one request to the factory in `authInfo`; only we ever put it there. */
function authInfoOf(peer: Peer) {
  return { token: '', clientId: peer.who.agent, scopes: [...(peer.who.scopes ?? [])], extra: { peer } };
}

function peerIn(authInfo: { readonly extra?: Record<string, unknown> } | undefined): Peer {
  const peer = authInfo?.extra?.peer;
  if (peer === undefined) throw new Error('a request reached the SDK without its peer');
  return peer as Peer;
}

/** Errors that a client of 2026-07-28 reads off the HTTP status; all others are answered with 200. */
const STATUS_OF = new Map([
  [METHOD_NOT_FOUND, 404],
  [MISSING_CAPABILITY, 400],
]);

async function answerModern(modern: ModernHandler, web: Request, body: unknown, who: Identity): Promise<Response> {
  let status: number | undefined;
  const peer: Peer = {
    who,
    conversation: randomUUID(),
    era: 'modern',
    onRpcError(code) {
      status = STATUS_OF.get(code);
    },
  };
  const options = { authInfo: authInfoOf(peer), ...(body !== undefined && { parsedBody: body }) };
  const response = await modern.fetch(web, options);
  // A stream that was opened before the error has sent its status.
  const streaming = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (status === undefined || streaming) return response;
  return new Response(response.body, { status, headers: response.headers });
}

interface Endpoint {
  readonly sdk: Sdk;
  readonly modern: ModernHandler;
  readonly legacy: LegacySessions;
  readonly updates: ResourceUpdates;
  readonly bound: string;
  readonly identify: HttpOptions['identify'];
}

async function answer(endpoint: Endpoint, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = headersOf(request);
  const { bound, identify } = endpoint;
  const refused = refusedOrigin({ host: bound, identifies: identify !== undefined }, headers);
  if (refused !== undefined) return sendError(response, 403, `Forbidden: ${refused}`, { rpc: -32000 });
  if (request.url?.split('?', 1)[0] !== PATH) return sendError(response, 404, 'Not found');
  if (!METHODS.has(request.method ?? '')) {
    return sendError(response, 405, 'Method not allowed', { headers: { allow: [...METHODS].join(', ') } });
  }
  const who = identify === undefined ? ANYONE : await identify(headers);
  if (who === null) return sendError(response, 401, 'Unauthorized', { headers: { 'www-authenticate': 'Bearer' } });

  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const body = request.method === 'POST' ? await readJson(request, response) : { value: undefined };
  if (body === undefined) return;
  const web = toWebRequest(request, headers, gone.signal);
  if (!(await endpoint.sdk.isLegacyRequest(web, body.value))) {
    // A stream tells of what its caller may read, and of nothing else.
    const listening = endpoint.updates.open(body.value, who);
    try {
      const reply = await streamWhenLate(answerModern(endpoint.modern, web, listening.message, who));
      return await sendWebResponse(reply, response, gone.signal);
    } finally {
      listening.close();
    }
  }
  const { response: reply, done } = await endpoint.legacy.handle(web, body.value, who);
  try {
    await sendWebResponse(reply, response, gone.signal);
  } finally {
    done();
  }
}

/** Undefined when the request has been answered with an error. */
async function readJson(request: IncomingMessage, response: ServerResponse): Promise<{ value: unknown } | undefined> {
  const text = await readBody(request, MAX_BODY_BYTES);
  if (text === null) {
    // The rest of the body is still on its way; the connection can't be used for another request.
    sendError(response, 413, `Request body over ${MAX_BODY_BYTES} bytes`, {
      rpc: -32600,
      headers: { connection: 'close' },
    });
    return undefined;
  }
  try {
    return { value: JSON.parse(text) };
  } catch {
    sendError(response, 400, 'Parse error: the body is not JSON', { rpc: -32700 });
    return undefined;
  }
}
