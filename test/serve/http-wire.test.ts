import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { serve } from 'bridle/server';
import { describe, expect, test, vi } from 'vitest';
import { call, JSON_RPC, open, start } from './http-client.ts';
import { tableHost, text } from './table-host.ts';

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 10 });

/** A client of bytes: what it sends as it is, and all that came back so far. */
async function bytes(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  open.push({ close: async () => socket.destroy() });
  let seen = '';
  socket.on('data', (chunk: Buffer) => {
    seen += chunk.toString('latin1');
  });
  return { send: (raw: string) => socket.write(raw), seen: () => seen };
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A call of 2026-07-28 as it goes over the wire. */
function wireCall(host: string, id: number, name: string, target = '/mcp'): string {
  const params = { name, arguments: {}, _meta: META };
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
  const head = {
    host,
    ...JSON_RPC,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
    'content-length': String(body.length),
  };
  const lines = Object.entries(head).map(([header, value]) => `${header}: ${value}\r\n`);
  return `POST ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

describe('what HTTP allows', () => {
  test('a target may be the whole address, as a proxy is sent it, and names the endpoint by its path', async () => {
    const handle = await serve(tableHost({ hi: async () => text('hello') }), { http: { port: 0, token: false } });
    open.push(handle);
    const url = handle.url ?? '';
    const { host } = new URL(url);
    const status = async (target: string) => {
      const client = await bytes(url);
      client.send(wireCall(host, 1, 'hi', target));
      await eventually(() => expect(client.seen()).toContain('\r\n\r\n'));
      return client.seen().slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length);
    };
    expect(await status(url)).toBe('200');
    expect(await status(`HTTP://${host}/mcp?a=/b`)).toBe('200');
    expect(await status(`http://${host}/other`)).toBe('404');
    expect(await status(`http://${host}`)).toBe('404');
    // Whom it names counts, and not the header.
    expect(await status('http://example.com/mcp')).toBe('403');
    expect(await status(`/x/${url}`)).toBe('404');
  });

  test('a compressed body is told apart from one that is no JSON', async () => {
    const { url } = await start(tableHost({}));
    const body = gzipSync(JSON.stringify(call(1, 'hi')));
    const headers = { ...JSON_RPC, 'content-encoding': 'gzip' };
    const answer = await fetch(url, { method: 'POST', headers, body });
    expect(answer.status).toBe(415);
    expect(answer.headers.get('accept-encoding')).toBe('identity');
    expect(await answer.text()).toContain('must not be compressed');
  });

  test('requests that are sent ahead are answered in their order, and none begins before the last has its answer', async () => {
    const begun: string[] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const tool = (name: string, until: Promise<void>) => async () => {
      begun.push(name);
      await until;
      return text(`answer of ${name}`);
    };
    const host = tableHost({ slow: tool('slow', held), quick: tool('quick', Promise.resolve()) });
    const handle = await serve(host, { http: { port: 0, token: false } });
    open.push(handle);
    const url = handle.url ?? '';
    const client = await bytes(url);
    const { host: named } = new URL(url);
    client.send(wireCall(named, 1, 'slow') + wireCall(named, 2, 'quick') + wireCall(named, 3, 'quick'));
    await eventually(() => expect(begun).toEqual(['slow']));
    // What another connection asks comes and goes meanwhile, so those behind had every chance to begin.
    const other = await bytes(url);
    other.send(wireCall(named, 4, 'quick'));
    await eventually(() => expect(other.seen()).toContain('answer of quick'));
    expect(begun).toEqual(['slow', 'quick']);
    release();
    await eventually(() => expect(client.seen().match(/"id":\d/g)).toEqual(['"id":1', '"id":2', '"id":3']));
    expect(begun).toEqual(['slow', 'quick', 'quick', 'quick']);
  });
});
