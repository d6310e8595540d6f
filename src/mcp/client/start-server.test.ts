import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { StdioServer } from './server.ts';
import { connectStdio, type StdioOptions } from './stdio-connection.ts';
import { closeAll } from './supervisor.ts';

afterEach(closeAll);

const LEGACY = `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    const body = method === 'initialize'
      ? { result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } } }
      : { error: { code: -32601, message: 'Method not found' } };
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
  });`;

function connection(more: Partial<StdioServer> = {}, options: StdioOptions = {}) {
  return connectStdio({ key: 's', scope: 'code', command: process.execPath, args: ['-e', LEGACY], ...more }, options);
}

const failure = (more: Partial<StdioServer>) =>
  connection(more)
    .connect()
    .then(
      () => undefined,
      (error) => error,
    );

describe('a server that the system does not start', () => {
  test('a working directory that is a file is not taken for a fault of the command', async () => {
    expect(await failure({ cwd: process.execPath })).toMatchObject({ code: 'mcp_cwd_missing' });
  });

  test('arguments that are too long are told as that', async () => {
    const error = await failure({ args: ['x'.repeat(4 * 1024 * 1024)] });
    expect(error).toMatchObject({ code: 'mcp_start_failed', message: expect.stringContaining('E2BIG') });
  });

  test('an empty command is told as that', async () => {
    expect(await failure({ command: '' })).toMatchObject({ code: 'mcp_start_failed' });
  });

  test('a script whose interpreter is missing is not called missing itself', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'bridle-test-')), 'server');
    await writeFile(file, '#!/no/such/interpreter\n', { mode: 0o755 });
    const error = await failure({ command: file, args: [] });
    expect(error).toMatchObject({ code: 'mcp_command_not_found', message: expect.stringContaining('interpreter') });
  });
});

describe('limits that are no limits', () => {
  test('a server may take as long as it likes to start', async () => {
    const server = connection({ startMs: Number.POSITIVE_INFINITY }, { probeMs: 2 ** 31 });
    await server.connect();
    expect(server.era?.revision).toBe('2025-11-25');
  });
});

test('a request that was cancelled before it was made starts nothing', async () => {
  const server = connection();
  const ctx = { signal: AbortSignal.abort(), idleMs: 1000, hardMs: 1000 };
  await expect(server.request('tools/list', {}, ctx)).rejects.toMatchObject({ code: 'mcp_cancelled' });
  expect(server.counters.starts).toBe(0);
});
