import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { AnswerFailure, httpFetch } from './http-fetch.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A server on loopback; `sockets` are its connections in the order in which they came. */
async function serverOf(listener: RequestListener) {
  const server = createServer(listener);
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, sockets };
}

test('a request goes out as it is, and its answer comes back with status and headers', async () => {
  const { url } = await serverOf(async (request, response) => {
    const sent: Buffer[] = [];
    for await (const bytes of request) sent.push(bytes);
    response.writeHead(429, { 'retry-after': '7', 'x-got': String(request.headers['x-mine']) });
    response.end(`${request.method} ${request.headers['content-length']} ${Buffer.concat(sent).toString()}`);
  });
  const answer = await httpFetch(url, { method: 'POST', headers: new Headers({ 'X-Mine': 'yes' }), body: 'Grüße 🐎' });
  expect([answer.status, answer.ok, answer.headers.get('retry-after'), answer.headers.get('x-got')]).toEqual([
    429,
    false,
    '7',
    'yes',
  ]);
  expect(await answer.text()).toBe('POST 12 Grüße 🐎');
});

test('connections are kept for the next request', async () => {
  const { url, sockets } = await serverOf((_request, response) => response.end('whole'));
  for (let i = 0; i < 3; i += 1) expect(await (await httpFetch(url)).text()).toBe('whole');
  expect(sockets).toHaveLength(1);
});

test('a connection that breaks before the answer fails, and is not tried again here', async () => {
  let asked = 0;
  const { url } = await serverOf((request) => {
    asked += 1;
    request.socket.resetAndDestroy();
  });
  await expect(httpFetch(url)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(asked).toBe(1);
});

test('a redirect is handed on as the answer that it is', async () => {
  const { url } = await serverOf((_request, response) => response.writeHead(307, { location: '/elsewhere' }).end());
  expect((await httpFetch(url)).status).toBe(307);
});

test('an answer is unpacked although nobody asked for it packed, and one that nobody can unpack fails', async () => {
  const { url } = await serverOf((request, response) => {
    if (request.url === '/v1') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('whole'));
    else response.writeHead(200, { 'content-encoding': 'zstd' }).end('what?');
  });
  expect(await (await httpFetch(url)).text()).toBe('whole');
  await expect(httpFetch(`${url}/other`)).rejects.toThrow(AnswerFailure);
});

test('an abort ends a request that waits, and a body that is read', async () => {
  const { url } = await serverOf((request, response) => {
    if (request.url !== '/v1') return;
    response.writeHead(200).write('the begin');
  });
  const waiting = new AbortController();
  const asked = httpFetch(`${url}/silent`, { signal: waiting.signal });
  waiting.abort();
  await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
  const reading = new AbortController();
  const { body } = await httpFetch(url, { signal: reading.signal });
  await expect(
    (async () => {
      for await (const _ of body) reading.abort();
    })(),
  ).rejects.toThrow();
});
