import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Json } from '../src/contracts/index.ts';
import { closeAll, connectStdio, mcpSource } from '../src/mcp/client/index.ts';
import { context, eventually, never, scripted, temporaryFolder, textOf } from './helpers/mcp.ts';

afterEach(closeAll);

/** Why connecting fails. */
async function refusal(server: Parameters<typeof connectStdio>[0], options?: Parameters<typeof connectStdio>[1]) {
  const connection = connectStdio(server, options);
  const error = await connection.connect().then(
    () => ({ code: 'connected', message: '', hint: '', executed: '' }),
    (thrown) => thrown,
  );
  return { connection, error };
}

describe('a server that does not start', () => {
  test('a command that does not exist is named, with its server', async () => {
    const { error, connection } = await refusal({ key: 'gone', scope: 'project', command: 'no-such-command-anywhere' });
    expect(error).toMatchObject({ code: 'mcp_command_not_found', executed: 'not_executed' });
    expect(error.message).toContain('"gone"');
    expect(error.message).toContain('no-such-command-anywhere');
    expect(connection.status().state).toBe('failed');
    expect(connection.status().reasons[0]?.text).toContain('PATH');
  });

  test('a file that is not executable is told from one that is missing', async () => {
    const file = join(await temporaryFolder(), 'server.sh');
    await writeFile(file, '#!/bin/sh\n');
    await chmod(file, 0o644);
    const { error } = await refusal({ key: 'plain', scope: 'code', command: file });
    expect(error.code).toBe('mcp_not_executable');
  });

  test('a working directory that is missing is not taken for a missing command', async () => {
    const { error } = await refusal(scripted('cwd', [], { cwd: '/no/such/folder' }));
    expect(error.code).toBe('mcp_cwd_missing');
  });

  test('one that exits at once is quoted from its stderr, with its exit code', async () => {
    const { error } = await refusal(scripted('exits', ['--start=exit']));
    expect(error).toMatchObject({ code: 'mcp_exited_at_start', executed: 'not_executed' });
    expect(error.message).toContain('exited with code 7');
    expect(error.message).toContain('cannot read settings.toml');
    expect(error.message).toContain('fatal: giving up');
  });

  test('one that hangs is given up after its start limit, and ended', async () => {
    const { error, connection } = await refusal(scripted('hangs', ['--start=hang'], { startMs: 400 }), { stopMs: 100 });
    expect(error.code).toBe('mcp_start_timeout');
    await connection.close();
    expect(connection.status().state).toBe('closed');
  });

  test('one that speaks garbage only is asked whether it is an MCP server', async () => {
    const { error } = await refusal(scripted('garbage', ['--start=garbage'], { startMs: 500 }), { stopMs: 100 });
    expect(error.code).toBe('mcp_no_protocol');
    expect(error.message).toContain('Listening on http://localhost:3000');
  });

  test('one that sends a line without end is stopped at the limit', async () => {
    const { error } = await refusal(scripted('huge', ['--start=huge'], { maxFrameBytes: 1024 * 1024 }));
    expect(error.code).toBe('mcp_frame_too_large');
  });

  test('one that fails again and again is not started for ever, until it is connected anew', async () => {
    const connection = connectStdio({ key: 'loop', scope: 'code', command: 'no-such-command-anywhere' });
    const use = () => connection.request('tools/list', {}, context()).catch((error) => error.code);
    const codes: string[] = [];
    for (let i = 0; i < 5; i += 1) codes.push(await use());
    expect(codes).toEqual(Array(5).fill('mcp_command_not_found'));
    expect(await use()).toBe('mcp_crash_loop');
    expect(connection.counters.starts).toBe(5);
    await expect(connection.connect()).rejects.toMatchObject({ code: 'mcp_command_not_found' });
  }, 20_000);
});

describe('a server that misbehaves', () => {
  test('a banner and stray lines on stdout are tolerated, counted, and shown as the reason', async () => {
    const connection = connectStdio(scripted('banner', ['--start=banner']));
    expect(textOf(await mcpSource(connection).call('echo', {}, context()))).toBe('{}');
    expect(connection.counters.noise).toBe(3);
    const noise = connection.status().reasons.find((reason) => reason.code === 'mcp_stdout_noise');
    expect(noise?.text).toContain('Welcome to the scripted server');
    expect(noise?.text).not.toContain('\u001b');
  });

  test('a flood on stderr neither blocks it nor is kept', async () => {
    const connection = connectStdio(scripted('flood', ['--start=flood']));
    expect(textOf(await mcpSource(connection).call('echo', { ok: true }, context()))).toBe('{"ok":true}');
  });

  test('answers with a wrong id are counted and ignored', async () => {
    const connection = connectStdio(scripted('wrong-id'));
    expect(textOf(await mcpSource(connection).call('wrong_id', {}, context()))).toBe('yours');
    expect(connection.counters.stray).toBe(2);
  });

  test('one that dies mid-call fails its calls at once with its last words, and is started again on use', async () => {
    const connection = connectStdio(scripted('dies', [], { env: { API_SECRET: 'sk-very-secret-value' } }));
    const source = mcpSource(connection);
    const waiting = source.call('wait', {}, context());
    const dying = await source.call('die', {}, context());
    for (const result of [dying, await waiting]) {
      if (result.kind !== 'failure') throw new Error(JSON.stringify(result));
      expect(result.failure).toMatchObject({ category: 'transient', executed: 'unknown', retryable: true });
      expect(result.failure.message).toContain('exited with code 3');
      expect(result.failure.message).toMatch(/last words, \$\{API_SECRET\}/);
      expect(result.failure.message).not.toContain('sk-very-secret-value');
    }
    expect(textOf(await source.call('echo', { again: 1 }, context()))).toBe('{"again":1}');
    expect(connection.counters.starts).toBe(2);
  });

  test('an answer that was written right before an exit still arrives', async () => {
    const connection = connectStdio(scripted('farewell'));
    const source = mcpSource(connection);
    expect(textOf(await source.call('farewell', {}, context()))).toHaveLength(3 * 1024 * 1024);
    expect(await eventually(() => connection.pid === undefined)).toBe(true);
    expect(textOf(await source.call('echo', {}, context()))).toBe('{}');
  });

  test('one that closes its output without exiting is ended and its calls fail', async () => {
    const source = mcpSource(connectStdio(scripted('mute'), { stopMs: 100 }));
    const result = await source.call('close_stdout', {}, context());
    expect(result).toMatchObject({ kind: 'failure', failure: { executed: 'unknown' } });
  });

  test.each([
    ['loop', 3, 'came back to cursor'],
    ['endless', 10_000, 'more than 10000 items'],
  ])('a list with pages that %s is cut, and what came before is kept', async (how, count, why) => {
    const source = mcpSource(connectStdio(scripted(`pages-${how}`, [`--list=${how}`])));
    const { tools, setAside } = await source.list(never());
    expect(tools).toHaveLength(count);
    expect(setAside[0]?.reasons[0]?.text).toContain(why);
  });

  test('a list that is none fails as a whole', async () => {
    const source = mcpSource(connectStdio(scripted('pages-bad', ['--list=bad'])));
    await expect(source.list(never())).rejects.toMatchObject({ code: 'mcp_bad_list' });
  });

  test('a storm of list changes is passed on as a few', async () => {
    for (const discover of ['error', 'modern']) {
      const source = mcpSource(connectStdio(scripted('storm', [`--discover=${discover}`])));
      let changes = 0;
      source.onChange(() => {
        changes += 1;
      });
      await source.call('storm', {}, context());
      expect(await eventually(() => changes > 0)).toBe(true);
      expect(changes).toBeLessThan(20);
    }
  });

  test('a running server that turns out to be of another revision is asked anew on the next use', async () => {
    const connection = connectStdio(scripted('outdated', ['--discover=modern']));
    const source = mcpSource(connection);
    const result = await source.call('outdated', {}, context());
    expect(result).toMatchObject({ kind: 'failure', failure: { executed: 'not_executed' } });
    expect(textOf(await source.call('echo', {}, context()))).toBe('{}');
    expect(connection.counters.starts).toBe(2);
  });

  test('a result of a type that nobody knows is a failure that says what came', async () => {
    const source = mcpSource(connectStdio(scripted('strange')));
    const result = await source.call('strange', {}, context());
    expect(result).toMatchObject({ kind: 'failure', failure: { executed: 'executed' } });
  });
});

describe('a call', () => {
  test('every page of tools is read, in the order of the server', async () => {
    const source = mcpSource(connectStdio(scripted('pages')));
    const { tools } = await source.list(never());
    expect(tools).toHaveLength(11);
    expect(tools.map((tool) => tool.ref.tool).slice(0, 3)).toEqual(['echo', 'constructor', 'big']);
  });

  test('a result is relayed as spelled: large numbers, number forms, and spaces', async () => {
    const result = await mcpSource(connectStdio(scripted('numbers'))).call('numbers', {}, context());
    if (result.kind !== 'result') throw new Error(JSON.stringify(result));
    expect(result.raw.text).toBe(
      '{"content":[], "structuredContent":{"big":12345678901234567890,"one":1.0,"small":1e-7} }',
    );
  });

  test('a result of five megabytes arrives whole', async () => {
    const result = await mcpSource(connectStdio(scripted('big'))).call('big', {}, context());
    expect(Buffer.byteLength(textOf(result))).toBe(5 * 1024 * 1024);
  });

  test('characters that arrive in pieces and messages that arrive in a batch are read', async () => {
    const source = mcpSource(connectStdio(scripted('pieces')));
    expect(textOf(await source.call('split', {}, context()))).toBe('žluťoučký 🐎');
    expect(textOf(await source.call('batch', {}, context()))).toBe('batched');
  });

  test('a tool that the server does not know is a validation failure that did not run', async () => {
    const result = await mcpSource(connectStdio(scripted('unknown'))).call('nope', {}, context());
    expect(result).toMatchObject({
      kind: 'failure',
      failure: { category: 'validation', executed: 'not_executed', retryable: false },
    });
  });

  test('arguments that are no object are refused before anything starts', async () => {
    const connection = connectStdio(scripted('args'));
    const result = await mcpSource(connection).call('echo', ['a'], context());
    expect(result).toMatchObject({ kind: 'failure', failure: { category: 'validation', executed: 'not_executed' } });
    expect(connection.counters.starts).toBe(0);
  });

  test('a cancelled call ends here at once, and the server is told', async () => {
    const source = mcpSource(connectStdio(scripted('cancel')));
    await source.list(never());
    const abort = new AbortController();
    const call = source.call('wait', {}, context({ signal: abort.signal }));
    setTimeout(() => abort.abort(), 50);
    expect(await call).toMatchObject({ kind: 'failure', failure: { executed: 'unknown', retryable: false } });
    const told = JSON.parse(textOf(await source.call('cancelled', {}, context())));
    expect(told).toHaveLength(1);
    const before = await source.call('echo', {}, context({ signal: AbortSignal.abort() }));
    expect(before).toMatchObject({ kind: 'failure', failure: { executed: 'not_executed' } });
  });

  test('silence ends a call at the idle limit, and the server is told', async () => {
    const source = mcpSource(connectStdio(scripted('idle')));
    await source.list(never());
    const result = await source.call('wait', {}, context({ idleMs: 100 }));
    expect(result).toMatchObject({ kind: 'failure', failure: { executed: 'unknown' } });
    expect(result.kind === 'failure' && result.failure.message).toContain('sent nothing for 100 ms');
    expect(JSON.parse(textOf(await source.call('cancelled', {}, context())))).toHaveLength(1);
  });

  test('progress starts the idle limit anew but never the hard limit', async () => {
    const source = mcpSource(connectStdio(scripted('progress')));
    await source.list(never());
    const events: Json[] = [];
    const onEvent = (event: { raw: { parse(): Json } }) => events.push(event.raw.parse());
    const long = await source.call('progress', { times: 25, every: 100 }, context({ idleMs: 2000, onEvent }));
    expect(textOf(long)).toBe('done');
    expect(events).toHaveLength(25);
    const tooLong = await source.call('progress', { times: 1000, every: 50 }, context({ hardMs: 400, onEvent }));
    expect(tooLong.kind === 'failure' && tooLong.failure.message).toContain('not finished tools/call after');
  });

  test('a question that two calls could have asked is declined, and one without a call goes to the connection', async () => {
    const input = async (): Promise<Json> => ({ action: 'accept', content: { name: 'Ada' } });
    const source = mcpSource(connectStdio(scripted('ask'), { capabilities: { elicitation: {} } }));
    await source.list(never());
    const other = new AbortController();
    const beside = source.call('wait', {}, context({ signal: other.signal, input }));
    expect(JSON.parse(textOf(await source.call('ask', {}, context({ input }))))).toEqual({ action: 'decline' });
    other.abort();
    await beside;
    expect(JSON.parse(textOf(await source.call('ask', {}, context({ input }))))).toMatchObject({ action: 'accept' });
    const roots = await source.call('ask', { method: 'roots/list' }, context());
    expect(JSON.parse(textOf(roots))).toMatchObject({ code: -32601 });
  });

  test('input required by a modern server comes with its state, and both go back', async () => {
    const source = mcpSource(connectStdio(scripted('mrtr', ['--discover=modern'])));
    const first = await source.call('need_input', {}, context());
    expect(first).toMatchObject({ kind: 'input_required', state: 'sealed' });
    const answers = { responses: { who: { action: 'accept' } }, state: 'sealed' };
    const second = await source.call('need_input', {}, context({ answers }));
    expect(JSON.parse(textOf(second))).toEqual({ inputResponses: answers.responses, requestState: 'sealed' });
  });

  test('each modern request says who asks and what can be asked back; a legacy one carries no such thing', async () => {
    const options = { capabilities: { elicitation: {} } };
    const modern = mcpSource(connectStdio(scripted('meta', ['--discover=modern']), options));
    const input = async (): Promise<Json> => ({});
    const meta = async (more: Parameters<typeof context>[0]) =>
      JSON.parse(textOf(await modern.call('meta', {}, context(more))));
    expect(await meta({ input })).toMatchObject({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'bridle' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    });
    // Nobody could answer this call's questions, so none is invited.
    expect(await meta({})).toMatchObject({ 'io.modelcontextprotocol/clientCapabilities': {} });
    const legacy = mcpSource(connectStdio(scripted('meta'), options));
    expect(textOf(await legacy.call('meta', {}, context()))).toBe('null');
  });
});

describe('the surroundings of a child', () => {
  test('it gets a baseline and its own entry, never what else this process knows', async () => {
    const folder = await temporaryFolder();
    process.env.ANTHROPIC_API_KEY = 'sk-ant-test';
    try {
      const server = scripted('surroundings', [], { env: { MINE: 'yes' } });
      const source = mcpSource(connectStdio(server, { projectRoot: folder }));
      const { env, cwd } = JSON.parse(textOf(await source.call('env', {}, context())));
      expect(env).toMatchObject({ MINE: 'yes', PATH: process.env.PATH });
      expect(env).not.toHaveProperty('ANTHROPIC_API_KEY');
      expect(cwd).toContain(folder.split('/').at(-1));
    } finally {
      delete process.env.ANTHROPIC_API_KEY;
    }
  });
});
