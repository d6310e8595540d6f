import type { ServerResponse } from 'node:http';
import type { JsonObject } from '../../src/contracts/index.ts';
import { closeAll, connectHttp, type HttpServer, mcpSource } from '../../src/mcp/client/index.ts';
import { type Asked, entry, faulty } from './http-servers.ts';

const running: { close(): Promise<unknown> }[] = [];

/** Closes every connection and every server of a test. */
export async function closeHttp(): Promise<void> {
  await closeAll();
  for (const one of running.splice(0)) await one.close();
}

export type Answer = (asked: Asked, response: ServerResponse) => void;

export async function up(answer: Answer, port?: number) {
  const server = await faulty(answer, port);
  running.push(server);
  return server;
}

export function connect(url: string, more: Partial<HttpServer> = {}) {
  const connection = connectHttp(entry(url, more));
  return { connection, source: mcpSource(connection) };
}

/** Why connecting fails. */
export async function refusal(url: string, more: Partial<HttpServer> = {}) {
  const { connection } = connect(url, more);
  const error = await connection.connect().then(
    () => ({ code: 'connected', message: '', hint: '', executed: '' }),
    (thrown) => thrown,
  );
  return { connection, error };
}

export const content = (text: string): JsonObject => ({ content: [{ type: 'text', text }] });
/** A call as its tool sees it: what the test counts. */
export const isCall = ({ body }: Asked) => body.method === 'tools/call';
export const page: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end('<!doctype html>\n<title>Welcome\u001b[31m</title>');
};
