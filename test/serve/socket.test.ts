import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync, linkSync, lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, Outcome, ServeHandle, ToolHost } from 'bridle/contracts';
import { serve } from 'bridle/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type TableHost, tableHost, text } from './table-host.ts';

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 10 });

let folder = '';
const open: (() => unknown)[] = [];
beforeEach(() => {
  // Short, since an address has few bytes.
  folder = mkdtempSync(join(tmpdir(), 'bs-'));
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(host: ToolHost, path = join(folder, 's')): Promise<{ path: string; handle: ServeHandle }> {
  const handle = await serve(host, { socket: { path } });
  open.push(() => handle.close());
  return { path, handle };
}

/** A client that knows lines, and nothing of the protocol. */
function client(path: string) {
  const socket = connect(path);
  open.push(() => socket.destroy());
  const lines: JsonObject[] = [];
  let rest = '';
  let ended = false;
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    const parts = `${rest}${chunk}`.split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) lines.push(JSON.parse(part));
  });
  socket.on('close', () => {
    ended = true;
  });
  socket.on('error', () => {});
  return {
    socket,
    lines,
    say: (...messages: unknown[]) => socket.write(messages.map((message) => `${JSON.stringify(message)}\n`).join('')),
    async answer(id: unknown): Promise<JsonObject> {
      await eventually(() => expect(lines.some((line) => line.id === id)).toBe(true));
      return lines.find((line) => line.id === id) ?? {};
    },
    hasEnded: () => eventually(() => expect(ended).toBe(true)),
  };
}

const rpc = (id: unknown, method: string, params: JsonObject = {}) => ({ jsonrpc: '2.0', id, method, params });
const initialize = (id: number, protocolVersion = '2025-11-25') =>
  rpc(id, 'initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '1' } });
const modern = (id: unknown, method: string, params: JsonObject = {}) =>
  rpc(id, method, {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  });
const untilCancelled = (signal: AbortSignal) =>
  new Promise<Outcome>((resolve) => signal.addEventListener('abort', () => resolve(text('nobody reads this'))));

/** Counts who listens to the host. */
function counted(host: TableHost) {
  const count = { listeners: 0 };
  const onChange = (listener: () => void) => {
    count.listeners += 1;
    const stop = host.onChange(listener);
    return () => {
      count.listeners -= 1;
      stop();
    };
  };
  return { count, host: { ...host, onChange } };
}

describe.runIf(process.platform !== 'win32')('a Unix socket', () => {
  test('is nobody’s but the owner’s, and goes with the server', async () => {
    const { path, handle } = await start(tableHost({}));
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    await handle.close();
    await handle.close();
    expect(existsSync(path)).toBe(false);
  });

  test('serves two clients of different eras side by side, and one that leaves costs the other nothing', async () => {
    const host = tableHost({ wait: ({ ctx }) => untilCancelled(ctx.signal), quick: () => text('q') });
    const { path } = await start(host);
    const older = client(path);
    const newer = client(path);
    older.say(initialize(0), rpc(1, 'tools/call', { name: 'wait' }));
    newer.say(modern(0, 'server/discover'), modern(1, 'tools/call', { name: 'wait' }));
    expect(await older.answer(0)).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
    expect(await newer.answer(0)).toMatchObject({ result: { resultType: 'complete' } });
    await eventually(() => expect(host.calls).toHaveLength(2));
    older.socket.destroy();
    await eventually(() => expect(host.calls.filter(({ ctx }) => ctx.signal.aborted)).toHaveLength(1));
    newer.say(modern(2, 'tools/call', { name: 'quick' }));
    expect(await newer.answer(2)).toMatchObject({ result: { content: [{ text: 'q' }] } });
    newer.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }, modern(3, 'tools/list'));
    await newer.answer(3);
    expect(host.calls.every(({ ctx, name }) => ctx.signal.aborted === (name === 'wait'))).toBe(true);
    expect(newer.lines.some(({ id }) => id === 1)).toBe(false);
  });

  test('takes messages however they are cut, with either line end, and garbage for what it is', async () => {
    const { path } = await start(tableHost({ say: ({ args }) => text(JSON.stringify(args.parse())) }));
    const one = client(path);
    const bytes = Buffer.from(
      `${JSON.stringify(modern('é€😀', 'tools/call', { name: 'say', arguments: { a: 'é€😀' } }))}\r\n\r\n\n`,
    );
    for (let at = 0; at < bytes.length; at += 7) {
      await new Promise((resolve) => one.socket.write(bytes.subarray(at, at + 7), resolve));
    }
    expect(await one.answer('é€😀')).toMatchObject({ result: { content: [{ text: '{"a":"é€😀"}' }] } });
    one.socket.write('{"jsonrpc":\nnull\n[]\n{"jsonrpc":"2.0","id":7}\n');
    one.say(rpc(8, 'tools/list'), modern(9, 'no/such'));
    await one.answer(9);
    const codes = one.lines.slice(1).map((line) => [line.id, (line.error as JsonObject).code]);
    expect(codes).toEqual([
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [7, -32600],
      [8, -32600],
      [9, -32601],
    ]);
  });

  test('tells nothing of a call after its answer, however that came about', async () => {
    let late = () => {};
    const host = tableHost({
      breaks({ ctx }) {
        late = () => ctx.onEvent?.({ kind: 'log', raw: { text: '', parse: () => ({ level: 'error', data: 'late' }) } });
        return Promise.reject(new Error('as it is meant to'));
      },
    });
    const { path } = await start(host);
    const one = client(path);
    one.say(initialize(0), rpc(1, 'tools/call', { name: 'breaks' }));
    expect(await one.answer(1)).toMatchObject({ error: { code: -32603 } });
    late();
    one.say(rpc(2, 'ping'));
    await one.answer(2);
    expect(one.lines.map(({ id, method }) => id ?? method)).toEqual([0, 1, 2]);
  });

  test('has room for a thousand streams of one client, and ends none for one more', async () => {
    const host = tableHost({});
    const { path } = await start(host);
    const one = client(path);
    const listen = (id: number) => modern(id, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    one.say(...Array.from({ length: 1001 }, (_, id) => listen(id)));
    expect(await one.answer(1000)).toMatchObject({ error: { code: -32603 } });
    one.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }, listen(2000));
    const begun = { 'io.modelcontextprotocol/subscriptionId': 2000 };
    await eventually(() =>
      expect(one.lines).toContainEqual(
        expect.objectContaining({ params: { _meta: begun, notifications: { toolsListChanged: true } } }),
      ),
    );
    host.add('new', () => text('new'));
    const told = () => one.lines.filter(({ method }) => method === 'notifications/tools/list_changed').length;
    await eventually(() => expect(told()).toBeGreaterThanOrEqual(1000));
    one.say(modern('last', 'tools/list'));
    await one.answer('last');
    expect(told()).toBe(1000);
  });

  test('ends the connection after a line that is too long, and says why', async () => {
    const { path } = await start(tableHost({}));
    const one = client(path);
    one.socket.write('x'.repeat(11 * 1024 * 1024));
    expect(await one.answer(null)).toMatchObject({ error: { code: -32700 } });
    await one.hasEnded();
  });

  test('ends streams with a result and calls without one when it closes', async () => {
    const { host, count } = counted(tableHost({ wait: ({ ctx }) => untilCancelled(ctx.signal) }));
    const { path, handle } = await start(host);
    const one = client(path);
    one.say(
      modern('l', 'subscriptions/listen', { notifications: { toolsListChanged: true } }),
      modern('c', 'tools/call', { name: 'wait' }),
    );
    await eventually(() => expect(host.calls).toHaveLength(1));
    await handle.close();
    await one.hasEnded();
    expect(one.lines.map(({ id, method }) => id ?? method)).toEqual(['notifications/subscriptions/acknowledged', 'l']);
    expect(host.calls[0]?.ctx.signal.aborted).toBe(true);
    expect(count.listeners).toBe(0);
  });

  test('is taken from a server that died, and from none that lives', async () => {
    const path = join(folder, 's');
    await leftBehind(path);
    const { handle } = await start(tableHost({}), path);
    await expect(serve(tableHost({}), { socket: { path } })).rejects.toMatchObject({ code: 'serve_address' });
    const one = client(path);
    one.say(modern(1, 'tools/list'));
    await one.answer(1);
    await handle.close();
  });

  test('that a dead server left is taken by exactly one of several that come at once, which is reached', async () => {
    const path = join(folder, 's');
    await leftBehind(path);
    const coming = Array.from({ length: 5 }, () => serve(tableHost({}), { socket: { path } }));
    const came = await Promise.allSettled(coming);
    const handles = came.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(handles).toHaveLength(1);
    const refusals = came.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'serve_address' });
    const one = client(path);
    one.say(modern(1, 'tools/list'));
    await one.answer(1);
    expect(readdirSync(folder)).toEqual(['s']);
    await handles[0]?.close();
  });

  test('is taken where a server died while it took it', async () => {
    const path = join(folder, 's');
    await leftBehind(path);
    // No process has this number: it is beyond what a system gives.
    writeFileSync(`${path}.lock`, '2147483646');
    const { handle } = await start(tableHost({}), path);
    expect(readdirSync(folder)).toEqual(['s']);
    await handle.close();
  });

  test('is not made where another file is, where the path is too long, empty or holds a zero, or in no folder', async () => {
    const { host, count } = counted(tableHost({}));
    const file = join(folder, 'file');
    writeFileSync(file, 'mine');
    for (const path of [file, join(folder, 'x'.repeat(120)), '', '\0abstract', join(folder, 'no', 'folder')]) {
      await expect(serve(host, { socket: { path } }), path).rejects.toMatchObject({ code: 'serve_address' });
    }
    expect(count.listeners).toBe(0);
    expect(process.umask()).not.toBe(0o177);
  });

  test('is a file also where its name is a number, and never a port', async () => {
    const before = process.cwd();
    process.chdir(folder);
    open.push(() => process.chdir(before));
    const { path, handle } = await start(tableHost({}), '18099');
    expect(lstatSync(join(folder, path)).isSocket()).toBe(true);
    await handle.close();
  });

  test('goes on when the system has no connection left to give', async () => {
    const servers: Server[] = [];
    const onSocket = (message: unknown) => {
      const { server } = (message as { socket: Socket & { server?: Server } }).socket;
      if (server) servers.push(server);
    };
    subscribe('net.server.socket', onSocket);
    const { path } = await start(tableHost({}));
    const one = client(path);
    one.say(modern(1, 'tools/list'));
    await one.answer(1);
    unsubscribe('net.server.socket', onSocket);
    for (const time of [1, 2, 3]) servers[0]?.emit('error', new Error(`accept EMFILE ${time}`));
    const two = client(path);
    two.say(modern(2, 'tools/list'));
    expect(await two.answer(2)).toMatchObject({ result: { tools: [] } });
  });

  test('cuts a client that asks and never reads, and the others go on', async () => {
    const host = tableHost({
      big: () => text('x'.repeat(8 * 1024 * 1024)),
      wait: ({ ctx }) => untilCancelled(ctx.signal),
    });
    const { path } = await start(host);
    const deaf = client(path);
    deaf.socket.pause();
    deaf.say(modern('w', 'tools/call', { name: 'wait' }));
    await eventually(() => expect(host.calls).toHaveLength(1));
    deaf.say(...Array.from({ length: 12 }, (_, id) => modern(id, 'tools/call', { name: 'big' })));
    await eventually(() => expect(host.calls[0]?.ctx.signal.aborted).toBe(true));
    const one = client(path);
    one.say(modern(1, 'tools/list'));
    await one.answer(1);
  });
});

/** A socket file without a server, as after one that died: the other name of a socket that is closed. */
async function leftBehind(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.1`, resolve));
  linkSync(`${path}.1`, path);
  await new Promise((resolve) => server.close(resolve));
}
