import * as zlib from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { closeHttp, connect, content, isCall, up } from './helpers/http-peers.ts';
import { json, legacyStart, modernStart } from './helpers/http-servers.ts';
import { context, textOf } from './helpers/mcp.ts';

afterEach(closeHttp);

const { signal } = new AbortController();

describe('an answer that is packed', () => {
  const packed = new Map<string, (text: string) => Buffer>([
    ['gzip', (text) => zlib.gzipSync(text)],
    ['deflate', (text) => zlib.deflateSync(text)],
    ['br', (text) => zlib.brotliCompressSync(text)],
  ]);

  test.each([...packed.keys()])('by %s is read, as JSON and as a stream', async (encoding) => {
    for (const type of ['application/json', 'text/event-stream']) {
      const server = await up((asked, response) => {
        if (modernStart(asked, response)) return;
        expect(asked.request.headers['accept-encoding']).toContain(encoding);
        const body = JSON.stringify({ jsonrpc: '2.0', id: asked.body.id, result: content('whole') });
        response.writeHead(200, { 'content-type': type, 'content-encoding': encoding });
        response.end(packed.get(encoding)?.(type === 'application/json' ? body : `data: ${body}\n\n`));
      });
      expect(textOf(await connect(server.url).source.call('t', {}, context()))).toBe('whole');
    }
  });

  test('small is not let grow over the limit for answers', async () => {
    const server = await up((asked, response) => {
      if (modernStart(asked, response)) return;
      const text = 'a'.repeat(5_000_000);
      const body = JSON.stringify({ jsonrpc: '2.0', id: asked.body.id, result: content(text) });
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(zlib.gzipSync(body));
    });
    const { source } = connect(server.url, { maxFrameBytes: 100_000 });
    expect(await source.call('t', {}, context())).toMatchObject({
      kind: 'failure',
      failure: { message: expect.stringContaining('over the limit of 100000 bytes') },
    });
  });

  test.each([
    ['in a way that was not offered', 'lzma', 'lzma'],
    ['and broken', 'gzip', 'connection broke'],
  ])('%s fails alone, with what it was', async (_what, encoding, said) => {
    const server = await up((asked, response) => {
      if (modernStart(asked, response)) return;
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding });
      response.end('not packed at all');
    });
    expect(await connect(server.url).source.call('t', {}, context())).toMatchObject({
      kind: 'failure',
      failure: { message: expect.stringContaining(said) },
    });
  });
});

describe('a server that asks for another try later', () => {
  test.each([modernStart, legacyStart])('gets it for a call that it refused by 429, in its own time', async (start) => {
    let calls = 0;
    const server = await up((asked, response) => {
      if (start(asked, response)) return;
      calls += 1;
      if (calls < 3) json(response, 429, {}, { 'retry-after': '0' });
      else json(response, 200, { id: asked.body.id, result: content('at last') });
    });
    expect(textOf(await connect(server.url).source.call('t', {}, context()))).toBe('at last');
    expect(calls).toBe(3);
  });

  test('does not get a call that may have run (503), nor one more for ever', async () => {
    for (const [status, most] of [
      [503, 1],
      [429, 4],
    ] as const) {
      let calls = 0;
      const server = await up((asked, response) => {
        if (modernStart(asked, response)) return;
        if (isCall(asked)) calls += 1;
        json(response, status, {}, { 'retry-after': '0' });
      });
      expect(await connect(server.url).source.call('t', {}, context())).toMatchObject({ kind: 'failure' });
      expect(calls).toBe(most);
    }
  });
});

test('a list is asked for once while the server says that it holds, and again after a change of headers', async () => {
  let lists = 0;
  const server = await up((asked, response) => {
    if (modernStart(asked, response)) return;
    lists += 1;
    const result = { resultType: 'complete', ttlMs: 3_600_000, cacheScope: 'private', tools: [] };
    json(response, 200, { id: asked.body.id, result });
  });
  const one = connect(server.url, { headers: { 'x-who': 'one' } });
  await one.source.list(signal);
  await one.source.list(signal);
  expect(lists).toBe(1);
  await connect(server.url, { headers: { 'x-who': 'two' } }).source.list(signal);
  expect(lists).toBe(2);
});
