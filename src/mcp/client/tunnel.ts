import { setMaxListeners } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type AgentOptions, request as httpsRequest, Agent as TlsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { type HttpSubject, proxyRefused, proxyUnreachable } from './http-errors.ts';
import { bare, type HttpProxy } from './proxy.ts';

/** Longest wait for a proxy to make a way, in milliseconds. */
const CONNECT_MS = 30_000;

type Made = (error: Error | null, stream: Duplex) => void;

/** Asks a proxy for a way to a server (RFC 9110, CONNECT); what goes through it is between the two ends. */
function openTunnel(proxy: HttpProxy, authority: string, subject: HttpSubject, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const { url, authorization } = proxy;
    const asked = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
      host: bare(url.hostname),
      port: url.port,
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...(authorization !== undefined && { 'proxy-authorization': authorization }) },
      agent: false,
      timeout: CONNECT_MS,
      signal,
    });
    asked.once('connect', ({ statusCode = 0 }, socket) => {
      socket.setTimeout(0);
      if (statusCode >= 200 && statusCode < 300) return resolve(socket);
      socket.destroy();
      reject(proxyRefused(subject, proxy, statusCode));
    });
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${CONNECT_MS} ms`)));
    asked.on('error', (error) => reject(proxyUnreachable(subject, proxy, error)));
    asked.end();
  });
}

/** Connections over TLS to one server, each through a way of its own that a proxy makes. */
export class TunnelAgent extends TlsAgent {
  #proxy: HttpProxy;
  #authority: string;
  #subject: HttpSubject;
  #closing = new AbortController();

  constructor(target: URL, proxy: HttpProxy, subject: HttpSubject, options: AgentOptions) {
    super(options);
    setMaxListeners(0, this.#closing.signal);
    this.#proxy = proxy;
    this.#subject = subject;
    this.#authority = `${target.hostname}:${target.port === '' ? 443 : target.port}`;
  }

  override createConnection(options: object, made?: Made): undefined {
    openTunnel(this.#proxy, this.#authority, this.#subject, this.#closing.signal).then(
      (socket) => {
        const secure = super.createConnection({ ...options, socket } as object);
        if (secure) made?.(null, secure);
      },
      // Whoever is told of an error looks at no stream.
      (error: Error) => (made as ((error: Error) => void) | undefined)?.(error),
    );
  }

  override destroy(): void {
    this.#closing.abort();
    super.destroy();
  }
}
