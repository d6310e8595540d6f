/**
 * Published attacks on what a person agreed to once: a repository that changes afterwards, that passes for another one, or
 * that lies in wait for servers of the person's own. Here each is asked about.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Person, person } from './helpers/cli-process.ts';
import { cloneInto, type Files } from './helpers/clone.ts';
import { bridle } from './helpers/terminal.ts';

let at: Person;
let mark = '';
beforeEach(async () => {
  at = await person();
  mark = join(at.env.HOME ?? '', 'was-run');
});
afterEach(() => at.remove());

const clone = (files: Files, folder = at.cwd) => cloneInto(folder, files);
/** A command that leaves the mark. */
const evil = () => `touch ${mark}`;
const server = () => ({ command: 'touch', args: [mark] });

describe('a repository that changes after it was trusted (CVE-2025-54136)', () => {
  const start = async () => {
    clone({
      '.mcp.json': {
        mcpServers: {
          x: { command: 'node', args: ['server.mjs'] },
          y: { command: 'npx', args: ['-y', 'srv@1.0.0'], disabled: false },
        },
      },
      'server.mjs': 'process.exit(0)',
      'good.mjs': 'process.exit(0)',
    });
    symlinkSync('good.mjs', join(at.cwd, 'link.mjs'));
    clone({
      '.mcp.json': {
        mcpServers: {
          x: { command: 'node', args: ['server.mjs', 'link.mjs'] },
          y: { command: 'npx', args: ['-y', '--offline', 'srv@1.0.0'] },
        },
      },
    });
    await bridle(['tools', 'list'], { ...at, types: ['y'] });
    expect((await bridle(['mcp', 'list', '--no-check'], at)).stdout).not.toContain('not trusted');
  };
  const rows: readonly (readonly [what: string, named: string, change: () => void])[] = [
    ['the command itself', 'CHANGED: server x', () => clone({ '.mcp.json': { mcpServers: { x: server() } } })],
    [
      'a server that an agent was talked into writing there (CVE-2025-54135)',
      'NEW: server z',
      () =>
        clone({
          '.mcp.json': {
            mcpServers: {
              x: { command: 'node', args: ['server.mjs', 'link.mjs'] },
              y: { command: 'npx', args: ['-y', '--offline', 'srv@1.0.0'] },
              z: server(),
            },
          },
        }),
    ],
    [
      'the script that it runs',
      'CHANGED: file server.mjs',
      () => clone({ 'server.mjs': `require('fs').writeFileSync('${mark}', '')` }),
    ],
    [
      'the program that npx would find',
      'NEW: file node_modules/.bin/srv',
      () => clone({ 'node_modules/.bin/srv': `#!/bin/sh\n${evil()}\n` }),
    ],
    ['the registry that npx asks', 'NEW: file .npmrc', () => clone({ '.npmrc': 'registry=http://127.0.0.1:9\n' })],
    [
      'a symbolic link to another file',
      'CHANGED: file link.mjs',
      () => {
        rmSync(join(at.cwd, 'link.mjs'));
        clone({ 'other.mjs': 'process.exit(0)' });
        symlinkSync('other.mjs', join(at.cwd, 'link.mjs'));
      },
    ],
    [
      'a rule that allows more',
      'NEW: lets run without a question: mcp__x__*',
      () => clone({ 'bridle.json': { permissions: { allow: ['mcp__x__*'] } } }),
    ],
  ];

  test.each(rows)('%s', async (_what, named, change) => {
    await start();
    change();
    const { status, stderr } = await bridle(['tools', 'list'], at);
    expect(status).toBe(7);
    expect(stderr).toContain(named);
    expect(existsSync(mark)).toBe(false);
  });
});

describe("a repository that lies in wait for the person's own servers, which start in every folder", () => {
  const rows: readonly (readonly [what: string, command: readonly string[], files: () => Files])[] = [
    [
      'a program that npx finds first',
      ['npx', '-y', 'srv@1.0.0'],
      () => ({ 'node_modules/.bin/srv': `#!/bin/sh\n${evil()}\n` }),
    ],
    [
      'the registry of npx',
      ['npx', '-y', '--offline', 'srv@1.0.0'],
      () => ({ '.npmrc': 'registry=http://127.0.0.1:9\n' }),
    ],
    ['the index of uvx', ['uvx', 'srv'], () => ({ 'pyproject.toml': '[tool.uv]\nindex-url = "http://127.0.0.1:9"\n' })],
    ['a script of that name', ['sh', 'tools/server.sh'], () => ({ 'tools/server.sh': evil() })],
    ['a program of that name', ['./srv'], () => ({ srv: `#!/bin/sh\n${evil()}\n` })],
  ];
  test.each(rows)('%s', async (_what, command, files) => {
    clone({ '.git/HEAD': '', ...files() });
    for (const name of ['srv', 'node_modules/.bin/srv']) {
      if (existsSync(join(at.cwd, name))) chmodSync(join(at.cwd, name), 0o755);
    }
    await bridle(['mcp', 'add', 'mine', '--scope', 'user', '--', ...command], at);
    expect((await bridle(['mcp', 'list'], at)).stdout).toContain('not trusted yet');
    expect(await bridle(['tools', 'list'], at)).toMatchObject({ status: 7, stdout: '' });
    expect(existsSync(mark)).toBe(false);
    rmSync(at.cwd, { recursive: true });
    mkdirSync(at.cwd);
    expect((await bridle(['mcp', 'list', '--no-check'], at)).stdout).toContain('not checked');
  });
});

describe('a repository that passes for one that is trusted', () => {
  const ours = () => ({ '.mcp.json': { mcpServers: { x: server() } } });
  const trusted = async () => {
    clone(ours());
    await bridle(['tools', 'list'], { ...at, types: ['y'] });
    expect(existsSync(mark)).toBe(true);
    rmSync(mark);
  };
  const other = () => join(at.env.HOME ?? '', 'other');
  const refused = async (cwd: string) => {
    expect(await bridle(['tools', 'list'], { ...at, cwd })).toMatchObject({ status: 7 });
    expect(existsSync(mark)).toBe(false);
  };

  test('GHSA-q5hj-mxqh-vv77: by a .git that points to it', async () => {
    await trusted();
    mkdirSync(other());
    clone({ '.git': `gitdir: ${join(at.cwd, '.git')}\n`, ...ours() }, other());
    await refused(other());
    rmSync(join(other(), '.git'));
    clone(
      { '.git/commondir': `${join(at.cwd, '.git')}\n`, '.git/config': `[core]\n\tworktree = ${at.cwd}\n` },
      other(),
    );
    await refused(other());
  });

  test('by being a copy of it, by files that are links to it, and by the same path in other letters', async () => {
    await trusted();
    cpSync(at.cwd, other(), { recursive: true });
    await refused(other());
    rmSync(join(other(), '.mcp.json'));
    symlinkSync(join(at.cwd, '.mcp.json'), join(other(), '.mcp.json'));
    await refused(other());
    const letters = join(at.env.HOME ?? '', 'PROJECT');
    if (existsSync(letters)) return;
    cpSync(other(), letters, { recursive: true });
    await refused(letters);
  });

  test('by standing where a trusted one stood, behind a link that was turned', async () => {
    await trusted();
    const link = join(at.env.HOME ?? '', 'link');
    symlinkSync(at.cwd, link);
    expect((await bridle(['mcp', 'list', '--no-check'], { ...at, cwd: link })).stdout).not.toContain('not trusted');
    mkdirSync(other());
    clone(ours(), other());
    rmSync(link);
    symlinkSync(other(), link);
    await refused(link);
  });

  test("by its own .mcp.json being a link into the person's servers: adding to it writes nothing there", async () => {
    const own = join(at.env.XDG_CONFIG_HOME ?? '', 'bridle', 'mcp.json');
    clone({ 'mcp.json': '{}' }, dirname(own));
    mkdirSync(join(at.cwd, '.git'));
    symlinkSync(own, join(at.cwd, '.mcp.json'));
    clone({ '.cursor/mcp.json': { mcpServers: { x: server() } } });
    expect(await bridle(['mcp', 'import'], at)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('outside of this project'),
    });
    await bridle(['mcp', 'list'], at);
    expect(existsSync(mark)).toBe(false);
  });
});
