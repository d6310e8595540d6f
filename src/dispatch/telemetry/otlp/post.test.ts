import { once } from 'node:events';
import { Agent, createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcp, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { poster } from './post.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Longer than any machine takes. */
const PATIENT_MS = 600_000;

async function serve(listener: RequestListener) {
  const server = createServer({ keepAliveTimeout: PATIENT_MS }, listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  return { server, url, connections: () => connections };
}

function to(url: string, more: { readonly timeoutMs?: number; readonly agent?: Agent } = {}) {
  const it = poster({ url, headers: { 'x-key': 'k1' }, timeoutMs: more.timeoutMs ?? PATIENT_MS }, more.agent);
  ends.push(() => it.close());
  return it;
}

/** Keeps connections however long a machine takes. */
const keeping = () => new Agent({ keepAlive: true });
const ever = () => new AbortController().signal;

test('a body arrives whole with its headers, and connections are kept for the next one', async () => {
  const seen: unknown[] = [];
  const { url, connections } = await serve(async (request, response) => {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    seen.push([request.method, request.headers['x-key'], request.headers['content-type'], body]);
    response.writeHead(503, { 'retry-after': '7' }).end('später');
  });
  const it = to(url, { agent: keeping() });
  const answer = { status: 503, retryAfter: '7', text: 'später' };
  expect(await it.post('{"a":"ü"}', ever())).toEqual(answer);
  // The connection is free once the answer was taken off it.
  await nextTurn();
  expect(await it.post('{}', ever())).toEqual(answer);
  expect(seen).toEqual(['{"a":"ü"}', '{}'].map((body) => ['POST', 'k1', 'application/json', body]));
  expect(connections()).toBe(1);
});

test('headers go nowhere but to the address that was named, and of a long answer nothing is kept', async () => {
  const other = await serve((_, response) => void response.end());
  const here = await serve(
    (_, response) => void response.writeHead(307, { location: other.url }).end('x'.repeat(99_999)),
  );
  expect(await to(here.url).post('{}', ever())).toEqual({ status: 307, retryAfter: undefined, text: '' });
  expect(other.connections()).toBe(0);
});

test('one that takes a request and never answers is given up by the signal and by the time limit, with its connection', async () => {
  const gone: Promise<unknown>[] = [];
  const stop = new AbortController();
  let nth = 0;
  const { url } = await serve((request) => {
    gone.push(once(request.socket, 'close'));
    nth += 1;
    if (nth === 1) stop.abort(new Error('enough'));
  });
  await expect(to(url).post('{}', stop.signal)).rejects.toThrow('enough');
  await expect(to(url, { timeoutMs: 20 }).post('{}', ever())).rejects.toThrow("it doesn't answer within 20 ms");
  // Not everything has to have come as far as the server.
  await Promise.all(gone);
  await expect(to(url).post('{}', stop.signal)).rejects.toThrow('enough');
});

test('one that drops what is sent to it is given up, and no connection is left that keeps the process', async () => {
  const begun: Socket[] = [];
  // A connection that is never made.
  class Dropping extends Agent {
    override createConnection(): Socket {
      const socket = Object.assign(new Socket(), { connecting: true });
      begun.push(socket);
      return socket;
    }
  }
  const stop = new AbortController();
  const posted = to('http://127.0.0.1:9/', { agent: new Dropping({ keepAlive: true }) }).post('{}', stop.signal);
  await nextTurn();
  stop.abort(new Error('enough'));
  await expect(posted).rejects.toThrow('enough');
  expect(begun.map(({ destroyed }) => destroyed)).toEqual([true]);
});

test('a connection that the other side closed meanwhile is made anew at once', async () => {
  let nth = 0;
  const { url, connections } = await serve((request, response) => {
    nth += 1;
    // It closes just as it is used again.
    if (nth === 2) request.socket.destroy();
    else response.end('{}');
  });
  const it = to(url, { agent: keeping() });
  await it.post('{}', ever());
  await nextTurn();
  expect((await it.post('{}', ever())).status).toBe(200);
  expect([nth, connections()]).toEqual([3, 2]);
});

test('one that closes each connection, or speaks something else, is an error', async () => {
  const server = createTcp((socket) => void socket.end('hello')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  await expect(to(`http://127.0.0.1:${port}/`).post('{}', ever())).rejects.toThrow();
  const { url } = await serve((request) => void request.socket.destroy());
  await expect(to(url).post('{}', ever())).rejects.toThrow();
});
