import { type ChildProcess, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { closeAll, connectStdio, mcpSource } from '../src/mcp/client/index.ts';
import { compiled } from './helpers/compiled.ts';
import {
  childrenOf,
  context,
  eventually,
  fixture,
  isRunning,
  killOne,
  linesOf,
  scripted,
  temporaryFolder,
  textOf,
} from './helpers/mcp.ts';

afterEach(closeAll);

describe('closing', () => {
  test('ends a server, and resolves when it is gone', async () => {
    const connection = connectStdio(scripted('close'));
    await connection.connect();
    const pid = connection.pid ?? 0;
    expect(isRunning(pid)).toBe(true);
    await connection.close();
    expect(isRunning(pid)).toBe(false);
    await expect(connection.request('tools/list', {}, context())).rejects.toMatchObject({
      code: 'mcp_closed',
      executed: 'not_executed',
    });
  });

  test('closes its input first, and sends SIGTERM only to a server that does not care', async () => {
    for (const [how, told] of [
      ['polite', []],
      ['stubborn', ['SIGTERM']],
    ] as const) {
      const log = join(await temporaryFolder(), 'log');
      const connection = connectStdio(scripted(how, [`--${how}`, `--log=${log}`]), {
        stopMs: how === 'polite' ? 20_000 : 200,
      });
      await connection.connect();
      await connection.close();
      expect(linesOf(log).filter((line) => line === 'SIGTERM')).toEqual(told);
    }
  });

  test('ends a server that ignores the end of its input and SIGTERM', async () => {
    const connection = connectStdio(scripted('deaf', ['--deaf']), { stopMs: 100 });
    await connection.connect();
    const pid = connection.pid ?? 0;
    await connection.close();
    expect(isRunning(pid)).toBe(false);
  });

  test('ends what a server started and left behind', async () => {
    const connection = connectStdio(scripted('family'), { stopMs: 100 });
    const grandchild = Number(textOf(await mcpSource(connection).call('grandchild', {}, context())));
    expect(isRunning(grandchild)).toBe(true);
    await connection.close();
    expect(isRunning(grandchild)).toBe(false);
  });

  test('also when the server died by itself before', async () => {
    const connection = connectStdio(scripted('orphans'), { stopMs: 100 });
    const source = mcpSource(connection);
    const grandchild = Number(textOf(await source.call('grandchild', {}, context())));
    await source.call('die', {}, context());
    expect(await eventually(() => !isRunning(grandchild))).toBe(true);
  });

  test('while a server starts leaves no process, and fails the call that waited for it', async () => {
    const connection = connectStdio(scripted('early', ['--start=hang']), { stopMs: 100 });
    const call = connection.request('tools/list', {}, context());
    call.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 50));
    await connection.close();
    await expect(call).rejects.toMatchObject({ code: 'mcp_closed', executed: 'not_executed' });
  });

  test('calls in flight fail as unknown', async () => {
    const connection = connectStdio(scripted('in-flight'));
    await connection.connect();
    const call = connection.request('tools/call', { name: 'wait', arguments: {} }, context());
    call.catch(() => {});
    await connection.close();
    await expect(call).rejects.toMatchObject({ code: 'mcp_closed', executed: 'unknown' });
  });
});

describe('when the host ends', () => {
  let module = '';
  let folder = '';
  const hosts: ChildProcess[] = [];

  beforeAll(async () => {
    const dist = await compiled(['contracts', 'tools', 'content', 'mcp/wire', 'mcp/client']);
    folder = dirname(dist);
    module = pathToFileURL(join(dist, 'mcp/client/index.js')).href;
  });
  afterAll(async () => {
    for (const host of hosts) host.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  async function host(how: string) {
    const child = spawn(process.execPath, [fixture('host.mjs'), module, how, fixture('scripted.mjs'), '--deaf'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    hosts.push(child);
    const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value ?? '{}');
    const first: { child: number; grandchild: number } = await next();
    return { child, exited, next, pids: [first.child, first.grandchild] };
  }

  const noneLeft = (pids: readonly number[], ms?: number) => eventually(() => !pids.some(isRunning), ms);

  test.each([
    ['close', 0],
    ['exit', 5],
    ['crash', 1],
  ])('by %s, its servers end with it', async (how, code) => {
    const { exited, pids } = await host(how);
    expect(await exited).toEqual({ code, signal: null });
    expect(await noneLeft(pids)).toBe(true);
  });

  test.each([
    ['SIGINT', 'wait'],
    ['SIGTERM', 'wait'],
    ['SIGTERM', 'hooks'],
    ['SIGHUP', 'hooks'],
  ] as const)('by %s (%s), its servers end and the signal keeps its effect', async (signal, how) => {
    const { child, exited, pids } = await host(how);
    expect(pids.every(isRunning)).toBe(true);
    child.kill(signal);
    expect(await exited).toEqual({ code: null, signal });
    expect(await noneLeft(pids)).toBe(true);
  });

  test('a handler of its own decides what a signal does, and servers live until it exits', async () => {
    const { child, exited, next, pids } = await host('own-handler');
    child.kill('SIGTERM');
    expect(await next()).toEqual({ stillThere: true });
    expect(await exited).toEqual({ code: 42, signal: null });
    expect(await noneLeft(pids)).toBe(true);
  });

  test('the watchdog ends with the host, and one that was ended is replaced', async () => {
    const { child, exited, pids } = await host('wait');
    const dogs = () => childrenOf(child.pid ?? 0).filter((pid) => !pids.includes(pid) && isRunning(pid));
    const [first] = dogs();
    killOne(first);
    expect(await eventually(() => dogs().some((pid) => pid !== first))).toBe(true);
    const [second = 0] = dogs();
    child.kill('SIGKILL');
    await exited;
    expect(await noneLeft([...pids, second], 5000)).toBe(true);
  });

  test('by kill -9, its servers and theirs are gone within five seconds', async () => {
    const { child, exited, pids } = await host('wait');
    expect(pids.every(isRunning)).toBe(true);
    child.kill('SIGKILL');
    await exited;
    expect(await noneLeft(pids, 5000)).toBe(true);
  });
});

test(`${cycles()} times connected and killed, no process is left`, { timeout: 600_000 }, async () => {
  const pids: number[] = [];
  for (let i = 0; i < cycles(); i += 1) {
    const connection = connectStdio(scripted('cycles'));
    await connection.connect();
    const { pid } = connection;
    if (pid !== undefined) pids.push(pid);
    // In turn: the server is killed, the connection is closed, and both at once.
    if (i % 3 !== 1) killOne(pid);
    if (i % 3 === 0) await eventually(() => connection.pid === undefined);
    await connection.close();
  }
  expect(pids.filter(isRunning)).toEqual([]);
});

function cycles(): number {
  return Number(process.env.BRIDLE_CYCLES ?? 50);
}
