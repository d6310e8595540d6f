import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BridleError, isLoopback } from '../tools/index.ts';
import type { GatewayStatus } from './status.ts';

export interface OperationsOptions {
  readonly host: string;
  readonly port: number;
  status(): GatewayStatus;
  /** What Prometheus gets. */
  metrics(): string;
}

export interface Operations {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Tells whoever runs the gateway how it stands, on an address of its own: `/healthz` (the process answers), `/readyz` (200
 * when calls are let in and no server is waited for, else 503; with the state of each server as JSON) and `/metrics`
 * (Prometheus text format). It changes nothing, and is no way to call anything.
 *
 * @throws BridleError `serve_address` when the address can't be listened on
 */
export async function serveOperations(options: OperationsOptions): Promise<Operations> {
  const { host } = options;
  const server = createServer((request, response) => answer(options, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `Can't listen on ${host}:${options.port}: ${cause.message}.`;
      reject(new BridleError('serve_address', message, { hint: 'Choose another --operations-port, or 0.', cause }));
    });
    server.listen(options.port, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${bracketed(host)}:${port}`,
    async close() {
      const ended = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await ended;
    },
  };
}

/** As a host stands in an address. */
function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

interface Told {
  readonly status: number;
  readonly body: string;
  /** Default: text. */
  readonly type?: string;
  readonly allow?: string;
}

const TEXT = 'text/plain; charset=utf-8';

function answer(options: OperationsOptions, request: IncomingMessage, response: ServerResponse): void {
  const { status, body, type = TEXT, allow } = toldOf(options, request);
  const headers = { 'content-type': type, 'cache-control': 'no-store', ...(allow !== undefined && { allow }) };
  response.writeHead(status, headers).end(body);
}

function toldOf({ host, status, metrics }: OperationsOptions, { headers, method, url }: IncomingMessage): Told {
  // A page in a browser that took a name of ours for itself (DNS rebinding) learns nothing.
  const asked = headers.host?.replace(/:\d+$/, '') ?? '';
  if (isLoopback(bracketed(host)) && !isLoopback(asked)) return { status: 403, body: 'Forbidden: not this host\n' };
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: 'Method not allowed\n', allow: 'GET, HEAD' };
  switch (url?.split('?')[0]) {
    case '/healthz':
      return { status: 200, body: 'ok\n' };
    case '/readyz': {
      const { servers, calls } = status();
      const ready = !calls.isDraining && servers.every(({ state }) => state !== 'waiting');
      const body = JSON.stringify({ ready, draining: calls.isDraining, servers });
      return { status: ready ? 200 : 503, type: 'application/json', body };
    }
    case '/metrics':
      return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: metrics() };
    default:
      return { status: 404, body: 'Not found: there are /healthz, /readyz and /metrics\n' };
  }
}
