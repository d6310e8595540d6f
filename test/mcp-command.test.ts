import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MCP_VERBS } from '../src/cli/mcp-verbs.ts';
import { alive, type Person, person } from './helpers/cli-process.ts';
import { bridle } from './helpers/terminal.ts';

let at: Person;
beforeEach(async () => {
  at = await person();
});
afterEach(() => at.remove());

const mcp = (...args: readonly string[]) => bridle(['mcp', ...args], at);
const projectFile = () => join(at.cwd, '.mcp.json');
const userFile = () => join(at.env.XDG_CONFIG_HOME ?? '', 'bridle', 'mcp.json');
const localFile = async () => {
  const folder = join(at.env.XDG_CONFIG_HOME ?? '', 'bridle', 'local');
  return join(folder, (await readdir(folder))[0] ?? '');
};
const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const listed = async (...args: string[]) => JSON.parse((await mcp('list', '--json', ...args)).stdout).servers;

describe('help', () => {
  test('every verb has a help of its own, with its options and an example', async () => {
    for (const [verb, { summary, options }] of Object.entries(MCP_VERBS)) {
      const { status, stdout } = await mcp(verb, '--help');
      expect(status).toBe(0);
      expect(stdout.replace(/\s+/g, ' ')).toContain(`bridle mcp ${verb}: ${summary}`);
      expect(stdout).toContain(`  bridle mcp ${verb}`);
      for (const option of Object.keys(options)) expect(stdout).toContain(`--${option}`);
      for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
      expect((await bridle(['help', 'mcp', verb], at)).stdout).toBe(stdout);
      expect((await mcp('--help')).stdout).toContain(`  ${verb} `);
    }
  });

  test('an unknown verb, a verb without what it needs, and an option of another verb are usage errors', async () => {
    expect(await mcp('ad')).toMatchObject({ status: 2, stderr: expect.stringContaining("Did you mean 'add'?") });
    for (const args of [[], ['add'], ['add', 'x'], ['get'], ['list', 'x'], ['list', '--env', 'A=b'], ['constructor']]) {
      expect(await mcp(...args)).toMatchObject({ status: 2, stdout: '' });
    }
  });
});

describe('add', () => {
  test('what is neither a program nor an address is not taken for a command, unless -- says that it is one', async () => {
    for (const what of ['notaurl', 'mcp.example.com/mcp', 'localhost:3000'])
      expect(await mcp('add', 'x', what)).toMatchObject({ status: 2, stderr: expect.stringContaining('no program') });
    expect(await mcp('add', 'x', '--', 'notaurl')).toMatchObject({ status: 0 });
    expect(await mcp('add', 'y', 'node', 'server.js')).toMatchObject({ status: 0 });
  });

  test('writes the command behind -- word by word, by default for this person in this project, readable by nobody else', async () => {
    const { status, stdout, stderr } = await mcp(
      'add',
      'fs',
      '-e',
      'TOKEN=hunter2hunter2',
      '--',
      'srv',
      '-y',
      '--scope',
      'x y',
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('srv -y --scope');
    expect(stdout).not.toContain('hunter2');
    const file = await localFile();
    expect(json(file)).toEqual({
      project: at.cwd,
      mcpServers: { fs: { command: 'srv', args: ['-y', '--scope', 'x y'], env: { TOKEN: 'hunter2hunter2' } } },
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(projectFile())).toBe(false);
  });

  test('takes an address with headers over http, sse when told so, in the scope that is named', async () => {
    expect((await mcp('add', '-t', 'sse', '-s', 'user', '-H', 'X-Key: a:b', 'old', 'https://x.test/sse')).status).toBe(
      0,
    );
    expect((await mcp('add', '--scope', 'project', 'new', 'https://x.test/mcp')).status).toBe(0);
    expect(json(userFile())).toEqual({
      mcpServers: { old: { type: 'sse', url: 'https://x.test/sse', headers: { 'X-Key': 'a:b' } } },
    });
    expect(json(projectFile())).toEqual({ mcpServers: { new: { type: 'http', url: 'https://x.test/mcp' } } });
  });

  test('leaves comments and the rest of the file as they are', async () => {
    const text = '{\n    // ours\n    "mcpServers": {\n        "a": { "command": "x" }, // first\n    },\n}\n';
    await writeFile(projectFile(), text);
    await mcp('add', '--scope', 'project', 'b', '--', 'y');
    const after = await readFile(projectFile(), 'utf8');
    expect(after).toContain(
      '    // ours\n    "mcpServers": {\n        "a": { "command": "x" }, // first\n        "b": {',
    );
    await mcp('remove', 'b');
    expect(await readFile(projectFile(), 'utf8')).toContain('"a": { "command": "x" }');
  });

  test('does not replace an entry without --force', async () => {
    await mcp('add', 'a', '--', 'one');
    expect(await mcp('add', 'a', '--', 'two')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('server_exists'),
    });
    expect((await mcp('add', 'a', '--', 'one')).status).toBe(0);
    expect((await mcp('add', 'a', '--force', '--', 'two')).status).toBe(0);
    expect(json(await localFile()).mcpServers.a).toEqual({ command: 'two' });
  });

  test.each([
    [['add', 'a b', '--', 'x']],
    [['add', 'a', '--scope', 'global', '--', 'x']],
    [['add', 'a', '--transport', 'ws', 'x']],
    [['add', 'a', '--transport', 'stdio', 'https://x.test']],
    [['add', 'a', '--transport', 'http', 'srv']],
    [['add', 'a', 'https://x.test', 'more']],
    [['add', 'a', '-e', 'hunter2hunter2', '--', 'x']],
    [['add', 'a', '-H', 'hunter2hunter2', 'https://x.test']],
    [['add', 'a', '-e', 'A=hunter2hunter2', 'https://x.test']],
    [['add', 'a', '-H', 'A: hunter2hunter2', '--', 'x']],
    [['add', 'a', 'npx', '-y', 'x']],
    [['add-json', 'a', '{"env": {"A": "hunter2hunter2"']],
    [['add-json', 'a', '["hunter2hunter2"]']],
    [['add-json', 'a', '{"args": ["hunter2hunter2"]}']],
  ])('refuses %j, writes nothing and repeats no secret', async (args) => {
    const { status, stdout, stderr } = await mcp(...args);
    expect(status).not.toBe(0);
    expect(stderr).toMatch(/^error \((usage|server_invalid)\)/);
    expect(stdout + stderr).not.toContain('hunter2');
    expect(
      existsSync(join(at.env.XDG_CONFIG_HOME ?? '', 'bridle', 'local')) &&
        (await readdir(join(at.env.XDG_CONFIG_HOME ?? '', 'bridle', 'local'))),
    ).toBeFalsy();
  });

  test('refuses what can be neither a command nor an address, and a header that cannot be sent', async () => {
    for (const args of [
      ['ftp://x.test/mcp'],
      ['ws://x.test/mcp'],
      ['http://'],
      ['https://x.test/mcp', '-H', 'X-Key: a\r\nX-Other: b'],
    ]) {
      expect(await mcp('add', 'a', ...args)).toMatchObject({
        status: 2,
        stdout: '',
        stderr: expect.stringContaining('usage'),
      });
    }
    expect(await listed('--no-check')).toEqual([]);
  });

  test('says what is unwise about the entry', async () => {
    const { stderr } = await mcp(
      'add',
      '-s',
      'project',
      '-e',
      'API_KEY=abcdef123456',
      'a',
      '--',
      'npx',
      '-y',
      'srv',
      '&&',
      'x',
    );
    for (const word of ['API_KEY in env', 'srv@1.2.3', 'no shell reads this']) expect(stderr).toContain(word);
    expect(stderr).not.toContain('abcdef123456');
  });

  test('add-json takes the entry as it stands in a file', async () => {
    expect((await mcp('add-json', 'a', '{"command": "x", /* c */ "startMs": 5,}', '--scope', 'user')).status).toBe(0);
    expect(json(userFile()).mcpServers.a).toEqual({ command: 'x', startMs: 5 });
  });
});

describe('list and get', () => {
  test('start what is trusted and say how it is, and start nothing of a project that nobody trusted', async () => {
    const good = at.fixture('sdk-v1.mjs');
    await mcp('add', 'good', '--', good.command, ...good.args);
    await mcp('add', '--scope', 'user', 'gone', '--', '/nowhere/srv');
    const touch = join(at.cwd, 'started');
    await at.servers({ theirs: { command: 'touch', args: [touch] } });
    const { status, stdout, stderr } = await mcp('list');
    expect(status).toBe(0);
    expect(stdout).toMatch(/good \(local\) +✓ connected/);
    expect(stdout).toMatch(/gone \(user\) +✗ mcp_command_not_found/);
    expect(stdout).toMatch(/theirs \(project\) +not trusted yet/);
    expect(stderr).toContain('not trusted yet');
    expect(existsSync(touch)).toBe(false);
    expect(alive(at)).toEqual([]);
    const found = await listed();
    expect(
      found.map((one: { key: string; state: string; check?: { ok: boolean } }) => [one.key, one.state, one.check?.ok]),
    ).toEqual([
      ['good', 'ready', true],
      ['theirs', 'untrusted', undefined],
      ['gone', 'ready', false],
    ]);
  });

  test('do not wait longer than they are told', async () => {
    await mcp('add', 'slow', '--', 'sleep', '60');
    expect(await listed('--max-seconds', '0.2')).toMatchObject([{ check: { ok: false, code: 'check_timeout' } }]);
    expect((await listed('--no-check'))[0]).not.toHaveProperty('check');
  });

  test('show names of variables and headers, never values, and no password of an address', async () => {
    const secret = 'hunter2hunter2';
    const entries = {
      a: { command: 'srv', args: ['--api-key', secret, secret], env: { TOKEN: secret } },
      b: { type: 'http', url: `https://ada:${secret}@x.test/?token=${secret}`, headers: { Authorization: secret } },
    };
    await writeFile(projectFile(), JSON.stringify({ mcpServers: entries }));
    for (const args of [
      ['list'],
      ['get', 'a'],
      ['get', 'b'],
      ['list', '--json'],
      ['get', 'a', '--json'],
      ['get', 'b', '--json'],
    ]) {
      const { stdout, stderr, status } = await mcp(...args);
      expect(status).toBe(0);
      expect(stdout + stderr).not.toContain(secret);
    }
    expect((await mcp('get', 'a')).stdout).toContain('TOKEN');
    expect((await mcp('get', 'b')).stdout).toContain('Authorization');
  });

  test('get shows the entry of every scope, and which one counts', async () => {
    await mcp('add', 'a', '--scope', 'user', '--', 'mine');
    await mcp('add', 'a', '--', 'here');
    const { servers } = JSON.parse((await mcp('get', 'a', '--no-check', '--json')).stdout);
    expect(servers).toMatchObject([
      { scope: 'local', state: 'ready', runs: 'here' },
      { scope: 'user', state: 'shadowed', runs: 'mine' },
    ]);
  });

  test('get of a server that is nowhere is an error, in JSON too', async () => {
    expect(await mcp('get', 'b')).toMatchObject({ status: 1, stderr: expect.stringContaining('server_unknown') });
    const { status, stdout } = await mcp('get', 'b', '--json');
    expect({ status, code: JSON.parse(stdout).error.code }).toEqual({ status: 1, code: 'server_unknown' });
  });

  test('list tells a failure in a row; get and JSON also tell what the server said last', async () => {
    await mcp('add', 'a', '--', process.execPath, '-e', 'console.error("a cause\\nof two lines"); process.exit(3)');
    const { stdout } = await mcp('list');
    expect(stdout).toMatch(/✗ mcp_exited_at_start: .* exited with code 3/);
    expect(stdout).not.toContain('Its last lines');
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect((await mcp('get', 'a')).stdout).toMatch(/Its last lines on stderr: +a cause/);
    expect((await listed())[0].check.text).toContain('of two lines');
  });
});

describe('remove, enable, disable', () => {
  test('remove asks for the scope where there are several, and leaves the others', async () => {
    await mcp('add', 'a', '--scope', 'user', '--', 'mine');
    await mcp('add', 'a', '--', 'here');
    expect(await mcp('remove', 'a')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--scope local or --scope user'),
    });
    expect((await mcp('remove', 'a', '-s', 'local')).status).toBe(0);
    expect((await listed('--no-check')).map(({ scope }: { scope: string }) => scope)).toEqual(['user']);
    expect((await mcp('remove', 'a')).status).toBe(0);
    expect(await mcp('remove', 'a')).toMatchObject({ status: 1, stderr: expect.stringContaining('server_unknown') });
  });

  test("a person's disable holds in this project alone, and changes no shared file", async () => {
    await at.servers({ a: { command: 'x', args: [] } });
    const before = await readFile(projectFile(), 'utf8');
    expect((await mcp('disable', 'a')).status).toBe(0);
    expect(await listed('--no-check')).toMatchObject([{ key: 'a', state: 'disabled' }]);
    expect(await readFile(projectFile(), 'utf8')).toBe(before);
    expect((await mcp('disable', 'a')).stdout).toContain('already');
    await mcp('enable', 'a');
    expect(await listed('--no-check')).toMatchObject([{ key: 'a', state: 'untrusted' }]);
  });

  test('with a scope it is written into the entry, and enable takes it out again', async () => {
    await mcp('add', 'a', '--scope', 'user', '--', 'x');
    await mcp('disable', 'a', '--scope', 'user');
    expect(json(userFile()).mcpServers.a).toEqual({ command: 'x', disabled: true });
    await mcp('enable', 'a');
    expect(json(userFile()).mcpServers.a).toEqual({ command: 'x' });
    await writeFile(projectFile(), '{"mcpServers": {"b": {"command": "x", "disabled": true}}}');
    expect((await mcp('enable', 'b')).stderr).toContain('--scope project');
    await mcp('enable', 'b', '--scope', 'project');
    expect(json(projectFile()).mcpServers.b).toEqual({ command: 'x' });
  });
});

test('reset-project-choices forgets that the project was trusted', async () => {
  await at.servers({ a: { command: '/nowhere/srv', args: [] } });
  await bridle(['tools', 'list'], { ...at, types: ['y'] });
  expect(await listed('--no-check')).toMatchObject([{ state: 'ready' }]);
  expect((await mcp('reset-project-choices')).stdout).toContain('asked again');
  expect(await listed('--no-check')).toMatchObject([{ state: 'untrusted' }]);
  expect((await mcp('reset-project-choices')).stdout).toContain('Nothing was agreed to');
});

describe('import', () => {
  test('says what it took, what it left and why, and shows no secret; a dry run writes nothing', async () => {
    await mkdir(join(at.cwd, '.cursor'));
    await writeFile(
      join(at.env.HOME ?? '', '.claude.json'),
      JSON.stringify({ mcpServers: { a: { command: 'x', env: { T: 'hunter2hunter2' } }, b: {} } }),
    );
    await writeFile(join(at.cwd, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { c: { command: 'y' } } }));
    const dry = await mcp('import', '--dry-run');
    expect(dry.stdout).toContain('would take a: x');
    expect(existsSync(userFile()) || existsSync(projectFile())).toBe(false);
    const { status, stdout } = await mcp('import');
    expect(status).toBe(0);
    expect(stdout).toContain('took a: x');
    expect(stdout).toMatch(/left b: .*has no "command"/);
    expect(stdout).toContain(`to ${projectFile()}`);
    expect(stdout + dry.stdout).not.toContain('hunter2');
    expect(json(userFile()).mcpServers.a.env).toEqual({ T: 'hunter2hunter2' });
    expect(statSync(userFile()).mode & 0o777).toBe(0o600);
    expect(
      JSON.parse((await mcp('import', '--json')).stdout).left.map(
        ({ reason }: { reason: { code: string } }) => reason.code,
      ),
    ).toEqual(['import_same', 'command_missing', 'import_same']);
    expect(await mcp('import', '--from', 'none.json')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('config_missing'),
    });
  });
});
