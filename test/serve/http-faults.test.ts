import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Identity, JsonObject } from 'bridle/contracts';
import { serve } from 'bridle/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { sessionIds } from '../../src/mcp/server/session-id.ts';
import { call, eventsOf, JSON_RPC, open, rpc, start } from './http-client.ts';
import { tableHost, text } from './table-host.ts';

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 10 });

/** What the platform tells of requests as they come, to see what the server can't be asked. */
interface Seen {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server: Server;
}
const seen: Seen[] = [];
const onRequest = (message: unknown) => void seen.push(message as Seen);
beforeEach(() => {
  seen.length = 0;
  subscribe('http.server.request.start', onRequest);
});
afterEach(() => void unsubscribe('http.server.request.start', onRequest));

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const modern = (id: number | string, method: string, params: JsonObject = {}) => ({
  jsonrpc: '2.0',
  id,
  method,
  params: { ...params, _meta: { ...META, ...(params._meta as JsonObject | undefined) } },
});
const MODERN = { ...JSON_RPC, 'mcp-protocol-version': '2026-07-28' };

describe('a client that vanishes', () => {
  test('before anybody said who it is leaves nothing that listens', async () => {
    let listeners = 0;
    const table = tableHost({});
    const host = {
      ...table,
      onChange(listener: () => void) {
        listeners += 1;
        const stop = table.onChange(listener);
        return () => {
          listeners -= 1;
          stop();
        };
      },
    };
    const admit: ((who: Identity) => void)[] = [];
    const identify = () => new Promise<Identity>((resolve) => admit.push(resolve));
    const handle = await serve(host, { http: { port: 0, identify, limits: { streams: 1 } } });
    open.push(handle);
    const ada: Identity = { agent: 'ada', via: 'gateway' };
    const listening = modern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    const post = (signal?: AbortSignal) =>
      fetch(handle.url ?? '', {
        method: 'POST',
        headers: { ...MODERN, 'mcp-method': 'subscriptions/listen' },
        body: JSON.stringify(listening),
        ...(signal && { signal }),
      });
    const leaving = new AbortController();
    const left = post(leaving.signal).catch(() => 'left');
    await eventually(() => expect(admit).toHaveLength(1));
    const [first] = seen;
    const isClosed = first && once(first.response, 'close');
    leaving.abort();
    await Promise.all([left, isClosed]);
    admit[0]?.(ada);
    // There is room for one stream.
    const next = post();
    await eventually(() => expect(admit).toHaveLength(2));
    admit[1]?.(ada);
    const answer = await next;
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    await answer.body?.cancel();
    expect(listeners).toBe(1);
  });

  test('during a call of an older session leaves no stream that is counted', async () => {
    const go: (() => void)[] = [];
    const host = tableHost({
      async slow({ ctx }) {
        await new Promise<void>((resolve) => go.push(resolve));
        ctx.onEvent?.({ kind: 'log', raw: { text: '', parse: () => ({ level: 'info', data: 'x' }) } });
        return text('done');
      },
    });
    const { send, initialize, listen, url } = await start(host, { limits: { streams: 1 } });
    const id = await initialize();
    const body = JSON.stringify(call(1, 'slow'));
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nx-who: ada\r\nmcp-session-id: ${id}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await eventually(() => expect(go).toHaveLength(1));
    const gone = seen.at(-1)?.response;
    const isClosed = gone && once(gone, 'close');
    socket.destroy();
    await isClosed;
    go[0]?.();
    expect((await send('ada', rpc(2, 'ping'), id)).status).toBe(200);
    const stream = await listen(id);
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
  });
});

describe('a server over HTTP', () => {
  const ask = (url: string, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const asked = httpRequest(url, { method: 'GET', headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on('error', reject).end();
    });

  test('is not talked into refusing everybody by an Origin of the name undefined', async () => {
    const handle = await serve(tableHost({}), { http: { port: 0, token: false } });
    open.push(handle);
    const url = handle.url ?? '';
    expect(await ask(url, { origin: 'undefined' })).toBe(403);
    expect(await ask(url, {})).toBe(400);
  });

  test('takes an empty secret for none, and the name of the scheme in any case', async () => {
    const handle = await serve(tableHost({}), { http: { port: 0, token: '', sessionSecret: '' } });
    open.push(handle);
    const url = handle.url ?? '';
    expect(handle.token).toMatch(/^[\w-]{43}$/);
    expect(await ask(url, { authorization: 'Bearer ' })).toBe(401);
    expect(await ask(url, { authorization: `bearer ${handle.token}` })).toBe(400);
    expect(await ask(url, { authorization: `Basic ${handle.token}` })).toBe(401);
    const facts = { conversation: 'c', caller: 'x', revision: '2025-11-25', capabilities: {} };
    const forged = sessionIds('').seal(facts);
    expect(sessionIds('').open(forged)).toBeNull();
  });

  test('sends a message of any size on a stream to a client that reads', async () => {
    const data = 'x'.repeat(24 * 1024 * 1024);
    const host = tableHost({
      big({ ctx }) {
        ctx.onEvent?.({ kind: 'progress', raw: { text: '', parse: () => ({ progress: 1 }) } });
        return text(data);
      },
    });
    const { url, send, initialize } = await start(host);
    const params = { name: 'big', arguments: {}, _meta: { progressToken: 1 } };
    const newer = await fetch(url, {
      method: 'POST',
      headers: { ...MODERN, 'x-who': 'ada', 'mcp-method': 'tools/call', 'mcp-name': 'big' },
      body: JSON.stringify(modern(1, 'tools/call', params)),
    });
    expect((await newer.text()).length).toBeGreaterThan(data.length);
    const older = await send('ada', rpc(1, 'tools/call', params), await initialize());
    expect((await older.text()).length).toBeGreaterThan(data.length);
  });

  test('goes on when the system has no connection left to give', async () => {
    const { url, initialize, status } = await start(tableHost({}));
    const id = await initialize();
    const [one] = seen;
    for (const time of [1, 2, 3]) one?.server.emit('error', new Error(`accept EMFILE ${time}`));
    expect(url).toContain('http://');
    expect(await status('ada', id)).toBe(200);
  });

  test('that can not listen leaves nothing at the host', async () => {
    let listeners = 0;
    const host = {
      ...tableHost({}),
      onChange() {
        listeners += 1;
        return () => {
          listeners -= 1;
        };
      },
    };
    const { url } = await start(tableHost({}));
    const port = Number(new URL(url).port);
    await expect(serve(host, { http: { port } })).rejects.toMatchObject({ code: 'serve_address' });
    expect(listeners).toBe(0);
  });

  test('names the request that it refuses for its revision', async () => {
    const { send, initialize } = await start(tableHost({}));
    const id = await initialize();
    const refused = await send('ada', rpc(7, 'ping'), id, { 'mcp-protocol-version': '2025-06-18' });
    expect([refused.status, await refused.json()]).toMatchObject([400, { id: 7, error: { code: -32600 } }]);
  });

  test('has POST alone for clients of the newest revision', async () => {
    const { url } = await start(tableHost({}));
    for (const method of ['GET', 'DELETE']) {
      const answer = await fetch(url, { method, headers: { 'mcp-protocol-version': '2026-07-28' } });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    }
  });

  test('refuses a number as id that it could not say again, and runs nothing for it', async () => {
    const host = tableHost({ act: () => text('acted') });
    const { url, initialize } = await start(host);
    const session = await initialize();
    const raw = async (id: string) => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...JSON_RPC, 'x-who': 'ada', 'mcp-session-id': session },
        body: `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"act"}}`,
      });
      return [answer.status, await answer.json()];
    };
    expect(await raw('9007199254740993')).toMatchObject([400, { id: null, error: { code: -32600 } }]);
    expect(await raw(`"${'i'.repeat(5000)}"`)).toMatchObject([400, { id: null, error: { code: -32600 } }]);
    expect(host.calls).toHaveLength(0);
    expect(await raw('9007199254740991')).toMatchObject([200, { id: 9007199254740991 }]);
  });

  test('does not wait for an answer of a client that takes no stream on which to ask it', async () => {
    const host = tableHost({
      async asks({ ctx }) {
        const said = await ctx.input?.({ text: '', parse: () => ({ method: 'roots/list' }) });
        return text(JSON.stringify(said));
      },
    });
    const { send } = await start(host);
    const begun = await send(
      'ada',
      rpc(0, 'initialize', {
        protocolVersion: '2025-11-25',
        capabilities: { roots: {} },
        clientInfo: { name: 'c', version: '1' },
      }),
    );
    const session = begun.headers.get('mcp-session-id') ?? '';
    await begun.text();
    const answer = await send('ada', call(1, 'asks'), session, { accept: 'application/json' });
    expect([answer.status, await answer.json()]).toMatchObject([200, { id: 1, error: { code: -32603 } }]);
  });
});

describe('the stream of a session', () => {
  test('tells a second connection nothing that the first was told, and the first again when the second is gone', async () => {
    const host = tableHost({ one: () => text('1') });
    const { initialize, listen } = await start(host);
    const id = await initialize();
    const first = eventsOf(await listen(id));
    await first.until('data: ');
    host.add('two', () => text('2'));
    await first.until('list_changed');
    const second = eventsOf(await listen(id));
    const begun = await second.until('data: ');
    const opened = seen.at(-1)?.response;
    const isClosed = opened && once(opened, 'close');
    host.add('three', () => text('3'));
    const told = await second.until('list_changed');
    expect(begun + told).not.toMatch(/message\nid: \S+:1\n/);
    await second.cancel();
    await isClosed;
    host.add('four', () => text('4'));
    expect(await first.until(':3\n')).not.toMatch(/message\nid: \S+:2\n/);
    await first.cancel();
  });

  test('of an earlier process is not taken for one of this', async () => {
    const secret = { sessionSecret: 'of two processes' };
    const told = (answers: Parameters<typeof tableHost>[0]) => tableHost(answers);
    const log = { kind: 'log', raw: { text: '', parse: () => ({ level: 'info', data: 'x' }) } } as const;
    const speaks = {
      speaks: ({ ctx }: { ctx: { onEvent?: (event: typeof log) => void } }) => {
        ctx.onEvent?.(log);
        return text('said');
      },
    };
    const first = await start(told(speaks), secret);
    const later = await start(told(speaks), secret);
    const id = await first.initialize();
    const [event = ''] = (await (await first.send('ada', call(1, 'speaks'), id)).text()).match(/(?<=id: )\S+/) ?? [];
    await (await later.send('ada', call(2, 'speaks'), id)).text();
    const answer = await later.listen(id, event);
    expect(answer.status).toBe(400);
    await answer.text();
    // What belongs to no request may be told anew.
    expect(await later.status('ada', id)).toBe(200);
  });
});
