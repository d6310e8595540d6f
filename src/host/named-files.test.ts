import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { parseConfig } from './config-file.ts';
import { variablesOf } from './expand.ts';
import { readMcpFile } from './mcp-json.ts';
import { namedFiles } from './named-files.ts';

let base = '';
let root = '';
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-named-')));
  root = join(base, 'project');
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true }));

const put = (name: string, text = name) => {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
};
async function named(entry: Json, env: Record<string, string> = {}) {
  const { entries } = readMcpFile(parseConfig('/x', JSON.stringify({ mcpServers: { s: entry } })));
  return namedFiles(entries, root, variablesOf(env, root));
}
const paths = async (entry: Json, env?: Record<string, string>) => (await named(entry, env)).map(({ path }) => path);

describe('files of the project that a command names', () => {
  const rows: readonly [what: string, file: string, entry: Json][] = [
    ['a script', 'server.js', { command: 'node', args: ['server.js'] }],
    ['a script without its ending', 'server.js', { command: 'node', args: ['./server'] }],
    ['the program itself', 'bin/tool', { command: './bin/tool' }],
    ['the program, written with dots', 'bin/tool', { command: 'x/../bin/tool' }],
    ['a script by the variable of the folder', 'a.py', { command: 'python3', args: [`\${CLAUDE_PROJECT_DIR}/a.py`] }],
    ['a script in the folder of the entry', 'srv/a.py', { command: 'python3', args: ['a.py'], cwd: 'srv' }],
    ['a module', 'pkg/server.py', { command: 'python', args: ['-m', 'pkg.server'] }],
    ['a package to run', 'pkg/__main__.py', { command: 'python', args: ['-m', 'pkg'] }],
    ['a folder to run', 'srv/index.js', { command: 'node', args: ['srv'] }],
    ['a file after an option', 'hook.mjs', { command: 'node', args: ['--import=./hook.mjs', '-e', '1'] }],
    ['a file glued to an option', 'hook.js', { command: 'node', args: ['-r./hook.js', '-e', '1'] }],
    ['a file in a variable', 'evil.js', { command: 'x', env: { NODE_OPTIONS: '--require ./evil.js' } }],
    ['a script that makes headers', 'h.sh', { url: 'https://x.example/mcp', headersHelper: './h.sh a' }],
    ['a file in a line for a shell', 'a.sh', { command: 'sh', args: ['-c', 'true && ./a.sh'] }],
    [
      'a program found by a path of the entry',
      'bin/npx',
      { command: 'npx', args: ['x'], env: { PATH: 'bin:/usr/bin' } },
    ],
    ['a program that npx finds here', 'node_modules/.bin/srv', { command: 'npx', args: ['-y', 'srv@1.0.0'] }],
    ['the registry that npx is sent to', '.npmrc', { command: 'npx', args: ['-y', 'srv'] }],
    ['the scripts that npm runs', 'package.json', { command: 'npm', args: ['run', 'mcp'] }],
    ['the registry, behind another program', '.npmrc', { command: 'env', args: ['A=1', 'npx', '-y', 'srv'] }],
    ['the registry, in a line for a shell', '.npmrc', { command: 'sh', args: ['-c', 'exec npx -y srv'] }],
    ['the registry, by the script of npx', '.npmrc', { command: 'node', args: ['/usr/lib/npm/bin/npx-cli.js', 'srv'] }],
    ['a module, by a program in other letters', 'server.js', { command: 'NODE', args: ['server'] }],
    ['the rules of make', 'Makefile', { command: 'make', args: ['serve'] }],
    [
      'a script in a folder that an argument names',
      'w/weather.py',
      { command: 'uv', args: ['--directory', 'w', 'run', 'weather.py'] },
    ],
  ];
  test.each(rows)('%s: %s', async (_what, file, entry) => {
    put(file);
    expect(await paths(entry)).toEqual([file]);
    expect((await named(entry))[0]).toMatchObject({ servers: ['s'] });
  });

  test('a change of what it holds changes the hash', async () => {
    put('server.js', 'one');
    const entry = { command: 'node', args: ['server.js'] };
    const [before] = await named(entry);
    expect(await named(entry)).toEqual([before]);
    put('server.js', 'two');
    expect((await named(entry))[0]?.hash).not.toBe(before?.hash);
  });

  test('programs that read files of their folder find them above it too, and elsewhere none of the project', async () => {
    put('.npmrc');
    put('node_modules/.bin/srv');
    put('sub/x');
    const entry = { command: 'npx', args: ['srv'] };
    expect((await paths({ ...entry, cwd: 'sub' })).sort()).toEqual(['.npmrc', 'node_modules/.bin/srv']);
    expect(await paths({ ...entry, cwd: base })).toEqual([]);
  });

  test('what only starts a container or a tool of its own reads no file that means nothing to it', async () => {
    put('compose.yml');
    put('pyproject.toml', '[project]\nname = "x"\n');
    expect(await paths({ command: 'docker', args: ['run', 'img'] })).toEqual([]);
    expect(await paths({ command: 'docker', args: ['compose', 'run', 'x'] })).toEqual(['compose.yml']);
    expect(await paths({ command: 'uvx', args: ['pkg'] })).toEqual([]);
    expect(await paths({ command: 'uv', args: ['run', 'pkg'] })).toEqual(['pyproject.toml']);
    for (const table of ['[tool.uv]\n', '[tool]\nuv.', '[ "tool" . "\\u0075v" ]\n']) {
      put('pyproject.toml', `${table}index-url = "http://127.0.0.1:9"\n`);
      expect(await paths({ command: 'uvx', args: ['pkg'] })).toEqual(['pyproject.toml']);
      expect(await paths({ command: 'uv', args: ['tool', 'run', 'pkg'] })).toEqual(['pyproject.toml']);
    }
  });

  test('files elsewhere are not the project’s', async () => {
    writeFileSync(join(base, 'out.js'), '');
    expect(await paths({ command: 'node', args: [join(base, 'out.js'), '../out.js', '/etc/passwd'] })).toEqual([]);
  });

  test('a link out of the project and a link into it are looked through, and turning one is a change', async () => {
    writeFileSync(join(base, 'out.js'), 'same');
    writeFileSync(join(base, 'other.js'), 'same');
    put('server.js');
    symlinkSync(join(base, 'out.js'), join(root, 'link.js'));
    symlinkSync(root, join(base, 'way'));
    expect(await paths({ command: 'node', args: [join(base, 'way', 'server.js')] })).toEqual([
      join(base, 'way', 'server.js'),
    ]);
    const entry = { command: 'node', args: ['link.js'] };
    const [before] = await named(entry);
    rmSync(join(root, 'link.js'));
    symlinkSync(join(base, 'other.js'), join(root, 'link.js'));
    const [after] = await named(entry);
    expect([before?.path, after?.path]).toEqual(['link.js', 'link.js']);
    expect(after?.hash).not.toBe(before?.hash);
  });

  test('folders, pipes and names with odd characters are no files', async () => {
    put('sub/x');
    expect(await paths({ command: 'srv', args: ['.', 'sub', '..', '-', '', '--', 'a\u202eb', `\${UNSET}`] })).toEqual(
      [],
    );
  });

  test('a path of the environment that leads into the project is looked at', async () => {
    put('node_modules/.bin/srv');
    expect(await paths({ command: 'srv' }, { PATH: `${root}/node_modules/.bin:/usr/bin` })).toEqual([
      'node_modules/.bin/srv',
    ]);
  });

  test('a command of more words than can be looked through never counts as known', async () => {
    const entry = { command: 'node', args: Array.from({ length: 60_000 }, (_, index) => `w${index}`) };
    const [first, ...more] = await named(entry);
    expect(more).toEqual([]);
    expect((await named(entry))[0]?.hash).not.toBe(first?.hash);
  });
});
