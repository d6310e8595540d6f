import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Json } from '../src/contracts/index.ts';
import { closeAll, connectStdio, mcpSource } from '../src/mcp/client/index.ts';
import {
  context,
  eventually,
  fixture,
  linesOf,
  never,
  node,
  published,
  scripted,
  temporaryFolder,
  textOf,
} from './helpers/mcp.ts';

afterEach(closeAll);

describe('published servers', () => {
  test('the everything server lists its tools, reports progress, and answers', async () => {
    const source = mcpSource(connectStdio(node('everything', [published('server-everything'), 'stdio'])));
    const { tools, setAside } = await source.list(never());
    expect(tools.map((tool) => tool.ref.tool)).toContain('echo');
    expect(setAside).toEqual([]);
    const progress: Json[] = [];
    const result = await source.call(
      'trigger-long-running-operation',
      { duration: 0.4, steps: 4 },
      context({ onEvent: (event) => event.kind === 'progress' && progress.push(event.raw.parse()) }),
    );
    expect(textOf(result)).toContain('completed');
    expect(progress.length).toBeGreaterThanOrEqual(3);
  });

  test('the filesystem server reads a file in the folder that it was given', async () => {
    const folder = await realpath(await temporaryFolder());
    await writeFile(join(folder, 'note.txt'), 'first line\nsecond line\n');
    const source = mcpSource(connectStdio(node('fs', [published('server-filesystem'), folder])));
    const result = await source.call('read_text_file', { path: join(folder, 'note.txt') }, context());
    expect(textOf(result)).toContain('first line');
    const outside = await source.call('read_text_file', { path: '/etc/hostname' }, context());
    expect(outside).toMatchObject({ kind: 'result', isError: true });
  });

  test('the memory server gets the environment of its entry and finds what it was told', async () => {
    const folder = await temporaryFolder();
    const entry = node('memory', [published('server-memory')], {
      env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
    });
    const source = mcpSource(connectStdio(entry));
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes engines'] }];
    await source.call('create_entities', { entities }, context());
    expect(textOf(await source.call('search_nodes', { query: 'engines' }, context()))).toContain('Ada');
  });
});

describe('servers on the official SDK', () => {
  test('version 1 is a legacy server, told so by its answer to initialize', async () => {
    const connection = connectStdio(node('v1', [fixture('sdk-v1.mjs')]));
    const result = await mcpSource(connection).call('add', { a: 2, b: 3 }, context());
    expect(result.kind === 'result' && result.raw.parse()).toMatchObject({ structuredContent: { sum: 5 } });
    expect(connection.era).toMatchObject({ revision: '2025-11-25' });
    expect(Date.parse(connection.era?.at ?? '')).not.toBeNaN();
    expect(connection.counters.starts).toBe(1);
  });

  test.each([[['--both']], [['--modern-only']]])('version 2 with %s is a modern server', async (args) => {
    const connection = connectStdio(node('v2', [fixture('sdk-v2.mjs'), ...args]), { probeMs: 20_000 });
    const source = mcpSource(connection);
    const { tools } = await source.list(never());
    expect(tools.map((tool) => tool.ref.tool)).toEqual(['add', 'who', 'learn']);
    const result = await source.call('add', { a: 2, b: 3 }, context());
    expect(result.kind === 'result' && result.raw.parse()).toMatchObject({ structuredContent: { sum: 5 } });
    expect(connection.era).toMatchObject({ revision: '2026-07-28', provenBy: 'server/discover lists it' });
    expect(connection.about?.instructions).toBe('Add with add.');
    expect(connection.counters.starts).toBe(1);
  });

  test('version 2 can be spoken to as a legacy server when its entry says so', async () => {
    const connection = connectStdio(node('v2-old', [fixture('sdk-v2.mjs')], { era: 'legacy' }));
    expect(textOf(await mcpSource(connection).call('add', { a: 1, b: 1 }, context()))).toBe('2');
    expect(connection.era?.revision).toBe('2025-11-25');
  });

  test('a legacy server asks during a call, and the host of that call answers', async () => {
    const connection = connectStdio(node('v1-ask', [fixture('sdk-v1.mjs')]), { capabilities: { elicitation: {} } });
    const asked: Json[] = [];
    const result = await mcpSource(connection).call(
      'who',
      {},
      context({
        input: async (request) => {
          asked.push(request.parse());
          return { action: 'accept', content: { name: 'Ada' } };
        },
      }),
    );
    expect(asked).toMatchObject([{ method: 'elicitation/create', params: { message: 'Your name?' } }]);
    expect(JSON.parse(textOf(result))).toEqual({ action: 'accept', content: { name: 'Ada' } });
  });

  test('a modern server requires input, and gets it on the second leg', async () => {
    const connection = connectStdio(node('v2-ask', [fixture('sdk-v2.mjs'), '--modern-only']), {
      capabilities: { elicitation: {} },
    });
    const source = mcpSource(connection);
    const input = async (): Promise<Json> => ({});
    const first = await source.call('who', {}, context({ input }));
    if (first.kind !== 'input_required') throw new Error(JSON.stringify(first));
    expect(first.requests.parse()).toMatchObject({ who: { method: 'elicitation/create' } });
    const responses = { who: { action: 'accept', content: { name: 'Ada' } } };
    const answers = { responses, ...(first.state !== undefined && { state: first.state }) };
    const second = await source.call('who', {}, context({ input, answers }));
    expect(JSON.parse(textOf(second))).toEqual(responses.who);
  });

  test.each(['sdk-v1.mjs', 'sdk-v2.mjs'])(
    'a tool that %s adds while running is seen after one change',
    async (file) => {
      const source = mcpSource(connectStdio(node('learning', [fixture(file), '--learning'])));
      let changes = 0;
      source.onChange(() => {
        changes += 1;
      });
      await source.list(never());
      await source.call('learn', {}, context());
      expect(await eventually(() => changes > 0)).toBe(true);
      const { tools } = await source.list(never());
      expect(tools.map((tool) => tool.ref.tool)).toContain('learned');
    },
  );
});

describe('the era of a server', () => {
  test.each([
    ['error', '2025-11-25'],
    ['odd-error', '2025-11-25'],
    ['empty', '2025-11-25'],
    ['silent', '2025-11-25'],
    ['modern', '2026-07-28'],
    ['late', '2026-07-28'],
  ])('one process start is enough where server/discover gets: %s', async (discover, revision) => {
    const connection = connectStdio(scripted(`era-${discover}`, [`--discover=${discover}`]), { probeMs: 100 });
    await connection.connect();
    expect(connection.era?.revision).toBe(revision);
    expect(connection.counters.starts).toBe(1);
  });

  test('a server that exits on server/discover is started once more and asked the old way', async () => {
    const log = join(await temporaryFolder(), 'log');
    const connection = connectStdio(scripted('era-exit', ['--discover=exit', `--log=${log}`]));
    await connection.connect();
    expect(connection.era?.revision).toBe('2025-11-25');
    await connection.close();
    expect(linesOf(log)).toEqual(['start', 'server/discover', 'start', 'initialize', 'notifications/initialized']);
  });

  test.each(['2025-06-18', '2025-03-26', '2024-11-05'])('revision %s is accepted', async (revision) => {
    const connection = connectStdio(scripted('era-old', [`--initialize=${revision}`]));
    expect(textOf(await mcpSource(connection).call('echo', { a: 1 }, context()))).toBe('{"a":1}');
    expect(connection.era?.revision).toBe(revision);
  });

  test.each([['--discover=other'], ['--discover=refuse']])(
    'a server of other modern revisions (%s) is named as such',
    async (arg) => {
      const connection = connectStdio(scripted('era-other', [arg]));
      await expect(connection.connect()).rejects.toMatchObject({
        code: 'mcp_unsupported_revision',
        message: expect.stringContaining('2027-03-01'),
      });
      expect(connection.status()).toMatchObject({ state: 'failed' });
    },
  );

  test('a handshake with a revision that nobody knows fails with that revision', async () => {
    const connection = connectStdio(scripted('era-unknown', ['--initialize=1999-01-01']));
    await expect(connection.connect()).rejects.toMatchObject({
      code: 'mcp_unsupported_revision',
      message: expect.stringContaining('1999-01-01'),
    });
  });

  test('a server that refuses both questions is given up with its own words', async () => {
    const connection = connectStdio(scripted('era-none', ['--initialize=refuse']));
    await expect(connection.connect()).rejects.toMatchObject({
      code: 'mcp_initialize_refused',
      message: expect.stringContaining('initialize is not supported here'),
    });
  });

  test('an entry for the modern era only does not fall back', async () => {
    const connection = connectStdio(scripted('era-pinned', [], { era: 'modern' }));
    await expect(connection.connect()).rejects.toMatchObject({ code: 'mcp_not_modern' });
  });

  test('a server of both eras that was too slow with its first answer is modern from its next start on', async () => {
    const server = node('v2-slow', [fixture('sdk-v2.mjs'), '--slow']);
    const first = connectStdio(server, { probeMs: 1 });
    expect(textOf(await mcpSource(first).call('add', { a: 1, b: 1 }, context()))).toBe('2');
    expect(first.era?.revision).toBe('2025-11-25');
    await first.close();
    const second = connectStdio(server, { probeMs: 20_000 });
    await second.connect();
    expect(second.era?.revision).toBe('2026-07-28');
  });

  test('what one start proved is used by the next, and corrected when the server became another', async () => {
    const folder = await temporaryFolder();
    const log = join(folder, 'log');
    // The same command and arguments: only what the file says differs.
    const program = join(folder, 'server.mjs');
    const server = node('changing', [program]);
    const say = (args: readonly string[]) =>
      writeFile(
        program,
        `process.argv.push(${[...args, `--log=${log}`].map((arg) => JSON.stringify(arg)).join(',')});\n` +
          `await import(${JSON.stringify(fixture('scripted.mjs'))});\n`,
      );
    await mkdir(folder, { recursive: true });
    const methods = async (args: readonly string[]) => {
      await say(args);
      await writeFile(log, '');
      const connection = connectStdio(server);
      await connection.connect();
      await connection.close();
      return { revision: connection.era?.revision, asked: linesOf(log).filter((line) => !line.startsWith('notif')) };
    };
    expect(await methods([])).toEqual({ revision: '2025-11-25', asked: ['start', 'server/discover', 'initialize'] });
    expect(await methods([])).toEqual({ revision: '2025-11-25', asked: ['start', 'initialize'] });
    const healed = await methods(['--discover=modern']);
    expect(healed).toMatchObject({ revision: '2026-07-28' });
    expect(healed.asked.slice(0, 3)).toEqual(['start', 'initialize', 'server/discover']);
    expect(await methods([])).toMatchObject({ revision: '2025-11-25' });

    await say(['--discover=modern', '--initialize=silent']);
    const waits = connectStdio({ ...server, startMs: 500 });
    await expect(waits.connect()).rejects.toMatchObject({ code: 'mcp_start_timeout' });
    const again = connectStdio(server);
    await again.connect();
    expect(again.era?.revision).toBe('2026-07-28');
  });
});
