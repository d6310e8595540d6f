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

function answer(
  { host, status, metrics }: OperationsOptions,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const say = (code: number, type: string, body: string) => {
    response.writeHead(code, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
  };
  const text = (code: number, body: string) => say(code, 'text/plain; charset=utf-8', `${body}\n`);
  // A page in a browser that took a name of ours for itself (DNS rebinding) learns nothing.
  const asked = request.headers.host?.replace(/:\d+$/, '') ?? '';
  if (isLoopback(bracketed(host)) && !isLoopback(asked)) return text(403, 'Forbidden: not this host');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    return text(405, 'Method not allowed');
  }
  switch (request.url?.split('?')[0]) {
    case '/healthz':
      return text(200, 'ok');
    case '/readyz': {
      const { servers, calls } = status();
      const { isDraining } = calls;
      const isReady = !isDraining && servers.every(({ state }) => state !== 'waiting');
      return say(
        isReady ? 200 : 503,
        'application/json',
        JSON.stringify({ ready: isReady, draining: isDraining, servers }),
      );
    }
    case '/metrics':
      return say(200, 'text/plain; version=0.0.4; charset=utf-8', metrics());
    default:
      return text(404, 'Not found: there are /healthz, /readyz and /metrics');
  }
}
