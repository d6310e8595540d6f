import * as http from 'node:http';
import * as https from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib';

/** How long a connection may take to be made, and how long nothing may come from one, in milliseconds. */
const CONNECT_MS = 10_000;
const SILENCE_MS = 300_000;
/** Shorter than what servers keep idle connections for: one that they close just now would lose a request. */
const IDLE_MS = 4_000;

/** As much of a `Response` as models read; its body is a stream of Node's. */
export interface HttpAnswer {
  readonly url: string;
  readonly status: number;
  readonly ok: boolean;
  readonly headers: Headers;
  readonly body: Readable;
  text(): Promise<string>;
}

export interface HttpRequest {
  readonly method?: string;
  readonly headers?: Headers | Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/**
 * `fetch` for requests to a model, over `node:http`: the same for whoever reads status, headers and body, at a fraction of
 * the processor time, of which a turn is mostly made. Connections are kept and shared by all models of the process. It
 * follows no redirect, and goes through a proxy where Node's own `fetch` is told to.
 *
 * @throws the system's error where no connection is made or it breaks, an `AbortError` when the signal aborts,
 *   `AnswerFailure` where nothing comes for five minutes, or what comes can't be unpacked
 */
export async function httpFetch(url: string, request: HttpRequest = {}): Promise<HttpAnswer> {
  const target = new URL(url);
  return send(target, agentFor(target), request);
}

/** Whether requests can go there; `localhost:8080` is a URL too, of a scheme `localhost`. */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

const agents = new Map<string, http.Agent>();

function agentFor({ protocol }: URL): http.Agent {
  const known = agents.get(protocol);
  if (known) return known;
  const settings = { keepAlive: true, timeout: IDLE_MS, ...proxySettings() };
  const agent = protocol === 'https:' ? new https.Agent(settings) : new http.Agent(settings);
  agents.set(protocol, agent);
  return agent;
}

/** An answer that no error of the system speaks of. */
export class AnswerFailure extends Error {}

function send(target: URL, agent: http.Agent, { method = 'GET', headers, body, signal }: HttpRequest) {
  return new Promise<HttpAnswer>((resolve, reject) => {
    const { request } = target.protocol === 'https:' ? https : http;
    const sent = request(target, {
      agent,
      method,
      headers: {
        'accept-encoding': 'identity',
        ...(headers instanceof Headers ? Object.fromEntries(headers) : headers),
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      },
      timeout: SILENCE_MS,
      ...(signal && { signal }),
    });
    let answer: http.IncomingMessage | undefined;
    limitConnecting(sent);
    sent.once('timeout', () => {
      (answer ?? sent).destroy(new AnswerFailure(`nothing came for ${SILENCE_MS / 1000} s`));
    });
    sent.once('error', reject);
    sent.once('response', (message) => {
      answer = message;
      try {
        resolve(answerOf(target, message));
      } catch (error) {
        message.destroy();
        reject(error);
      }
    });
    sent.end(body);
  });
}

function limitConnecting(sent: http.ClientRequest): void {
  sent.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => {
      sent.destroy(Object.assign(new Error(`no connection within ${CONNECT_MS / 1000} s`), { code: 'ETIMEDOUT' }));
    }, CONNECT_MS);
    const clear = () => clearTimeout(timer);
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', clear);
    socket.once('close', clear);
  });
}

function answerOf({ href }: URL, message: http.IncomingMessage): HttpAnswer {
  const { statusCode: status = 0, rawHeaders } = message;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  const body = decoded(message);
  return {
    url: href,
    status,
    ok: status >= 200 && status < 300,
    headers,
    body,
    async text() {
      const decoder = new TextDecoder();
      let text = '';
      for await (const bytes of body) text += decoder.decode(bytes, { stream: true });
      return text + decoder.decode();
    },
  };
}

/** No encoding was asked for, but some proxies pack whatever they hand on. */
function decoded(message: http.IncomingMessage): Readable {
  const encoding = (message.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  switch (encoding) {
    case '':
    case 'identity':
      return message;
    case 'gzip':
    case 'x-gzip':
    case 'deflate':
      return pipeline(message, createUnzip({ flush: constants.Z_SYNC_FLUSH }), () => {});
    case 'br':
      return pipeline(message, createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }), () => {});
    default:
      throw new AnswerFailure(`content-encoding ${encoding} can't be read`);
  }
}

/** Node from 24 on goes through the proxies of the environment where it is told to; an agent of one's own is told again. */
function proxySettings(): object {
  const isTold = process.env.NODE_USE_ENV_PROXY === '1' || process.execArgv.includes('--use-env-proxy');
  return isTold ? { proxyEnv: process.env } : {};
}
