import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MOST_BYTES } from '../rules/http-rules.ts';
import type { Handler } from './handler.ts';

export interface HttpServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves a handler on loopback. */
export async function serveHttp(handler: Handler, port: number): Promise<HttpServer> {
  const server = createServer((request, response) => void answer(handler, request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(handler: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  // A client that leaves in the middle is no fault of anybody.
  response.on('error', () => gone.abort());
  try {
    const url = new URL(request.url ?? '/', 'http://double');
    const result = await handler({
      method: request.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: new Map(
        Object.entries(request.headers).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] as const],
        ),
      ),
      body: await textOf(request),
      signal: gone.signal,
    });
    if (result === 'closed') {
      request.socket.destroy();
      return;
    }
    response.writeHead(result.status, result.headers);
    if (typeof result.body === 'string') {
      response.end(request.method === 'HEAD' ? undefined : result.body);
      return;
    }
    for await (const text of result.body) {
      if (gone.signal.aborted) return;
      if (!response.write(text)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
    response.end();
  } catch {
    // The events closed the connection, or the client did.
    request.socket.destroy();
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // What is too much is not kept; that it was is seen from its length.
    if (size <= MOST_BYTES + 1) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
