import { connect as openSocket } from 'node:net';
import type { Outcome } from 'bridle/contracts';
import { serve } from 'bridle/server';
import { describe, expect, test, vi } from 'vitest';
import { call, eventsOf, JSON_RPC, open, rpc, start } from './http-client.ts';
import { tableHost, text } from './table-host.ts';

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 10 });

const cancel = (requestId: number) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
const untilCancelled = (signal: AbortSignal) =>
  new Promise<Outcome>((resolve) => signal.addEventListener('abort', () => resolve(text('nobody reads this'))));

describe('a session of the older revisions', () => {
  test('is another one for a caller with other scopes, in whatever order they are given', async () => {
    const { initialize, status } = await start(tableHost({}));
    const id = await initialize('ada read write');
    expect(await status('ada write read', id)).toBe(200);
    expect(await status('ada read', id)).toBe(404);
    expect(await status('ada read write admin', id)).toBe(404);
    expect(await status('ada', id)).toBe(404);
  });

  test('goes on in another process that has the same secret, and in none that has not', async () => {
    const secret = { sessionSecret: 'of two processes' };
    const first = await start(tableHost({}), secret);
    const second = await start(tableHost({}), secret);
    const stranger = await start(tableHost({}));
    const id = await first.initialize();
    expect(await second.status('ada', id)).toBe(200);
    expect(await second.status('eve', id)).toBe(404);
    expect(await stranger.status('ada', id)).toBe(404);
    const changed = `${id.slice(0, -2)}${id.endsWith('AA') ? 'BB' : 'AA'}`;
    expect(await first.status('ada', changed)).toBe(404);
  });

  test('is over when its client ends it', async () => {
    const { url, initialize, status } = await start(tableHost({}));
    const id = await initialize();
    const ended = await fetch(url, { method: 'DELETE', headers: { 'x-who': 'ada', 'mcp-session-id': id } });
    expect(ended.status).toBe(200);
    expect(await status('ada', id)).toBe(404);
  });

  test('makes room for a new one of the same caller before it costs anybody else theirs', async () => {
    const { initialize, status } = await start(tableHost({}), { limits: { sessions: 3 } });
    const hers = await initialize('ada');
    const first = await initialize('eve');
    for (let i = 0; i < 5; i += 1) await initialize('eve');
    expect(await status('ada', hers)).toBe(200);
    expect(await status('eve', first)).toBe(404);
  });

  test('gives no answer to a call that was cancelled, and ends its response', async () => {
    const host = tableHost({ wait: ({ ctx }) => untilCancelled(ctx.signal) });
    const { send, initialize } = await start(host);
    const id = await initialize();
    const waiting = send('ada', call(1, 'wait'), id);
    await eventually(() => expect(host.calls).toHaveLength(1));
    expect((await send('ada', cancel(1), id)).status).toBe(202);
    const answer = await waiting;
    expect(await answer.text()).toBe('');
  });

  test('answers a batch on one stream where its revision has batches, and one cancelled call costs the others nothing', async () => {
    const host = tableHost({ wait: ({ ctx }) => untilCancelled(ctx.signal), quick: () => text('q') });
    const { send, initialize } = await start(host);
    const id = await initialize('ada', '2025-03-26');
    const both = eventsOf(await send('ada', [call(1, 'wait'), call(2, 'quick'), call(3, 'wait')], id));
    await both.until('"id":2');
    await send('ada', cancel(1), id);
    await send('ada', cancel(3), id);
    const all = await both.rest();
    expect(all).not.toContain('"id":1');
    expect(all).not.toContain('"id":3');
    const newer = await initialize('ada', '2025-11-25');
    const refused = await send('ada', [call(1, 'quick')], newer);
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: -32600 } }]);
  });

  test('goes on with the stream of a call whose connection was lost, and tells nothing twice', async () => {
    const steps: (() => void)[] = [];
    const host = tableHost({
      async slow({ ctx }) {
        for (const progress of [1, 2, 3]) {
          ctx.onEvent?.({ kind: 'progress', raw: { text: '', parse: () => ({ progress }) } });
          await new Promise<void>((resolve) => steps.push(resolve));
        }
        return text('done');
      },
    });
    const { send, initialize, listen } = await start(host);
    const id = await initialize();
    const params = { name: 'slow', arguments: {}, _meta: { progressToken: 't' } };
    const lost = eventsOf(await send('ada', rpc(7, 'tools/call', params), id));
    const seen = await lost.until('"progress":1');
    expect(seen).toMatch(/^id: [\w-]+:0\nretry: \d+\ndata: \n\n/);
    await lost.cancel();
    steps[0]?.();
    await eventually(() => expect(steps).toHaveLength(2));
    steps[1]?.();
    await eventually(() => expect(steps).toHaveLength(3));
    const [last = ''] = seen.match(/(?<=id: )[\w-]+:1/) ?? [];
    const found = eventsOf(await listen(id, last));
    const again = await found.until('"progress":3');
    expect(again).not.toContain('"progress":1,');
    expect(again).toContain('"progress":2');
    steps[2]?.();
    expect(await found.rest()).toContain('"id":7');
    expect((await listen(id, 's999:1')).status).toBe(400);
  });

  test('tells what it missed of changes to a client that comes back with the event it saw last', async () => {
    const host = tableHost({ one: () => text('1') });
    const { initialize, listen } = await start(host);
    const id = await initialize();
    const first = eventsOf(await listen(id));
    await first.until('data: ');
    host.add('two', () => text('2'));
    const seen = await first.until('list_changed');
    await first.cancel();
    const [last = ''] = seen.match(/(?<=id: )[\w-]+-push:1/) ?? [];
    host.add('three', () => text('3'));
    const again = eventsOf(await listen(id, last));
    expect(await again.until('list_changed')).toMatch(/id: [\w-]+-push:2/);
    await again.cancel();
  });
});

describe('over HTTP, whoever calls', () => {
  test('needs the token that the handle tells, unless told otherwise', async () => {
    const handle = await serve(tableHost({}), { http: { port: 0 } });
    open.push(handle);
    const post = (authorization?: string) =>
      fetch(handle.url ?? '', {
        method: 'POST',
        headers: { ...JSON_RPC, ...(authorization !== undefined && { authorization }) },
        body: JSON.stringify(rpc(1, 'ping')),
      });
    expect(handle.token).toMatch(/^[\w-]{43}$/);
    const refused = await post();
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect((await post(`Bearer ${handle.token}x`)).status).toBe(401);
    // Past the token, it is refused for what it lacks as a request of the protocol.
    expect((await post(`Bearer ${handle.token}`)).status).toBe(400);
  });

  test('gets the standard error for what is no message, and the server goes on', async () => {
    const { url, send, initialize } = await start(tableHost({}));
    const id = await initialize();
    const raw = (body: string | Uint8Array<ArrayBuffer>) =>
      fetch(url, { method: 'POST', headers: { ...JSON_RPC, 'mcp-session-id': id, 'x-who': 'ada' }, body });
    const code = async (answer: Response) => [
      answer.status,
      ((await answer.json()) as { error: { code: number } }).error.code,
    ];
    expect(await code(await raw('{'))).toEqual([400, -32700]);
    expect(await code(await raw(new Uint8Array([0x22, 0xff, 0x22])))).toEqual([400, -32700]);
    expect(await code(await raw(`${'['.repeat(100_000)}${']'.repeat(100_000)}`))).toEqual([400, -32700]);
    expect(await code(await raw('null'))).toEqual([400, -32600]);
    expect(await code(await raw('{"jsonrpc":"2.0","id":null,"method":"ping"}'))).toEqual([400, -32600]);
    expect(await code(await raw('{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}'))).toEqual([400, -32600]);
    expect(await code(await raw('{"jsonrpc":"1.0","id":1,"method":"ping"}'))).toEqual([400, -32600]);
    expect(await code(await send('ada', rpc(1, 'no/such'), id))).toEqual([200, -32601]);
    expect(await (await send('ada', rpc(1, 'ping'), id)).json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  test('that stops reading loses its connection, and nothing is held for it', async () => {
    const big = {
      kind: 'log',
      raw: { text: '', parse: () => ({ level: 'info', data: 'x'.repeat(1024 * 1024) }) },
    } as const;
    let gone = false;
    const host = tableHost({
      async flood({ ctx }) {
        ctx.signal.addEventListener('abort', () => {
          gone = true;
        });
        while (!ctx.signal.aborted) {
          ctx.onEvent?.(big);
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        return text('never read');
      },
    });
    const { url } = await start(host);
    const { port } = new URL(url);
    const body = JSON.stringify(
      rpc(1, 'tools/call', {
        name: 'flood',
        arguments: {},
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
          'io.modelcontextprotocol/logLevel': 'info',
        },
      }),
    );
    const socket = openSocket(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    socket.write(
      [
        'POST /mcp HTTP/1.1',
        `Host: 127.0.0.1:${port}`,
        'Content-Type: application/json',
        'Accept: application/json, text/event-stream',
        'MCP-Protocol-Version: 2026-07-28',
        'Mcp-Method: tools/call',
        'Mcp-Name: flood',
        `Content-Length: ${Buffer.byteLength(body)}`,
        '',
        body,
      ].join('\r\n'),
    );
    await eventually(() => expect(gone).toBe(true));
    socket.destroy();
  });
});
