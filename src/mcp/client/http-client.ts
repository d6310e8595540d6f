import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import { ACCEPTED_ENCODINGS, decodedBody } from './content-encoding.ts';
import { McpError } from './errors.ts';
import {
  type HttpSubject,
  networkError,
  proxyRefused,
  proxyUnreachable,
  redirected,
  unknownEncoding,
} from './http-errors.ts';
import type { HttpTarget } from './http-target.ts';
import { bare, type HttpProxy } from './proxy.ts';
import { shownUrl } from './secrets.ts';
import { TunnelAgent } from './tunnel.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The target's own URL when left out; of the same origin otherwise. */
  readonly url?: URL;
  /** Added to the target's. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** A stream that must not keep the process alive by itself. */
  readonly background?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Unpacked, not read yet; goes on as long as the server sends, and ends with the request's signal. */
  readonly body: Readable;
}

export interface HttpClient {
  /**
   * Sends one request and waits for the head of its answer, as long as it takes; once more where the headers that were
   * refused (401) can be made anew.
   *
   * @throws McpError `mcp_unreachable`, `mcp_tls`, `mcp_connection_lost`, `mcp_redirect`, `mcp_proxy`,
   *   `mcp_headers_helper`
   */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Ends the connections that are kept. */
  close(): void;
}

/** How long a connection is kept for the next request: shorter than servers do, so that none is used as it closes. */
const KEPT_MS = 4000;
/** After how much silence the system asks whether the other side is still there. */
const PROBE_MS = 15_000;
const MAX_REDIRECTS = 5;
/** Calls at once; further ones wait for a connection. More handshakes at once take longer than waiting. */
const MAX_CONNECTIONS = 100;

/**
 * An HTTP client for one server, on Node's own `http` and `https`: they never cut a silent stream, which `fetch` does
 * after 300 seconds. Connections are pooled. Headers go to the target's origin only; redirects are followed within it
 * where method and body stay the same.
 *
 * @param proxy what stands before the server: asked for a way to one of `https`, and to pass on requests to one of `http`
 */
export function httpClient(target: HttpTarget, subject: HttpSubject, proxy: HttpProxy | null = null): HttpClient {
  const isTunnelled = proxy !== null && target.url.protocol === 'https:';
  /** Who is asked to pass each request on. */
  const relay = isTunnelled ? null : proxy;
  const secure = (relay?.url ?? target.url).protocol === 'https:';
  const agentFor = (maxSockets: number) => {
    const options = { keepAlive: true, keepAliveMsecs: PROBE_MS, timeout: KEPT_MS, maxSockets };
    if (isTunnelled) return new TunnelAgent(target.url, proxy, subject, options);
    return secure ? new TlsAgent(options) : new Agent(options);
  };
  const calls = agentFor(MAX_CONNECTIONS);
  // Streams that stand for hours take no call's place.
  const streams = agentFor(Number.POSITIVE_INFINITY);
  /** Connections that stand: what goes out on one of them is on its way. */
  const standing = new WeakSet<object>();

  const once = (request: HttpRequest, url: URL): Promise<HttpAnswer> =>
    new Promise((resolve, reject) => {
      const { method, signal, body } = request;
      const agent = request.background === true ? streams : calls;
      const headers = {
        ...target.headers,
        ...request.headers,
        // What packs a stream may hold it back.
        'accept-encoding': request.background === true ? 'identity' : ACCEPTED_ENCODINGS,
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      };
      let sent = false;
      const start = secure ? httpsRequest : httpRequest;
      const passed = relay && hop(relay, url);
      const message = passed
        ? start({ ...passed, method, headers: { ...headers, ...passed.headers }, agent })
        : start(url.href, { method, headers, agent });
      // Node's own `signal` would raise its error on a socket that nobody listens to any more.
      const abort = () => message.destroy();
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      message.on('close', () => signal.removeEventListener('abort', abort));
      message.on('socket', (socket) => {
        socket.setKeepAlive(true, PROBE_MS);
        if (request.background === true) socket.unref();
        sent = standing.has(socket);
        if (sent) return;
        socket.once(secure ? 'secureConnect' : 'connect', () => {
          standing.add(socket);
          sent = true;
        });
      });
      message.on('response', (answer) => {
        // Whoever reads the body hears of it too; without a listener here it would end the process.
        answer.on('error', () => {});
        if (relay && answer.statusCode === 407) {
          answer.destroy();
          reject(proxyRefused(subject, relay, 407));
          return;
        }
        const decoded = decodedBody(answer);
        if (decoded === null) {
          answer.destroy();
          reject(unknownEncoding(subject, answer.headers['content-encoding'] ?? ''));
          return;
        }
        decoded.on('error', () => {});
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: decoded });
      });
      message.on('error', (error) => {
        if (error instanceof McpError) reject(error);
        else reject(relay && !sent ? proxyUnreachable(subject, relay, error) : networkError(subject, error, sent));
      });
      message.end(body);
    });

  const follow = async (request: HttpRequest): Promise<HttpAnswer> => {
    let url = request.url ?? target.url;
    for (let hops = 0; ; hops += 1) {
      const answer = await once(request, url);
      const { location } = answer.headers;
      if (answer.status < 300 || answer.status >= 400 || answer.status === 304 || location === undefined) return answer;
      answer.body.destroy();
      const to = URL.canParse(location, url.href) ? new URL(location, url) : null;
      const refuse = (why: string) => redirected(subject, answer.status, to ? shownUrl(to.href) : 'no URL', why);
      if (to === null || to.origin !== target.url.origin) {
        throw refuse('which is not followed: it leads to another origin');
      }
      // 301, 302 and 303 would turn a message into a question for a page.
      if (request.method !== 'GET' && answer.status !== 307 && answer.status !== 308) {
        throw refuse(`which does not keep the method ${request.method}`);
      }
      if (hops >= MAX_REDIRECTS) throw refuse(`after ${MAX_REDIRECTS} others`);
      url = to;
    }
  };

  return {
    async send(request) {
      const used = target.headers;
      const answer = await follow(request);
      if (answer.status !== 401 || !target.renew) return answer;
      // Whoever isn't let in has run nothing.
      const renewed = await target.renew(used).catch((error: unknown) => {
        answer.body.destroy();
        throw error;
      });
      if (!renewed) return answer;
      answer.body.destroy();
      return follow(request);
    },
    close() {
      calls.destroy();
      streams.destroy();
    },
  };
}

/** Where a request goes that a proxy is to pass on (RFC 9112, absolute-form). */
function hop({ url, authorization }: HttpProxy, to: URL) {
  return {
    host: bare(url.hostname),
    port: url.port,
    path: to.href,
    headers: { host: to.host, ...(authorization !== undefined && { 'proxy-authorization': authorization }) },
  };
}

/**
 * Reads a body to its end.
 *
 * @param limit bytes
 * @param cut keep what fits instead of giving up
 * @returns null when it is longer than the limit; the rest isn't read
 */
export async function readBody(body: Readable, limit: number, cut = false): Promise<string | null> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    const bytes = part as Buffer;
    parts.push(bytes);
    size += bytes.length;
    if (size <= limit) continue;
    body.destroy();
    if (!cut) return null;
    break;
  }
  return Buffer.concat(parts).toString('utf8', 0, Math.min(size, limit));
}

/** The content type without parameters, in lower case. */
export function contentType(headers: IncomingHttpHeaders): string | undefined {
  return headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
}
