import { describe, expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { adviseOn } from './entry-advice.ts';
import { unpinnedPackage } from './package-pins.ts';

const codes = (entry: Json, scope: 'project' | 'user' = 'project') =>
  adviseOn('s', entry, scope).map(({ code }) => code);

describe('secrets in a file that is committed', () => {
  const rows: readonly (readonly [entry: Json, secret: boolean])[] = [
    [{ env: { GITHUB_TOKEN: 'ghp_0123456789abcdefghij' } }, true],
    [{ env: { ANYTHING: 'sk-ant-0123456789abcdef' } }, true],
    [{ env: { API_KEY: 'abcdef123456' } }, true],
    [{ env: { DATABASE_URL: 'postgres://ada:hunter2@db/x' } }, true],
    [{ args: ['--api-key', 'abcdef123456'] }, true],
    [{ args: ['--token=abcdef123456'] }, true],
    [{ args: ['postgresql://u:hunter2@localhost/db'] }, true],
    [{ url: 'https://x/mcp?api_key=abcdef123456' }, true],
    [{ url: 'https://x/mcp', headers: { Authorization: 'Bearer abcdef123456' } }, true],
    [{ env: { API_KEY: `\${API_KEY}` } }, false],
    [{ env: { API_KEY: '' } }, false],
    [{ env: { API_KEY: 'YOUR_API_KEY' } }, false],
    [{ env: { API_KEY_FILE: '/run/secrets/key' } }, false],
    [{ env: { AUTH_ENABLED: 'true', MODE: 'read-only' } }, false],
    [{ headers: { Authorization: `Bearer \${TOKEN}` } }, false],
    [{ args: ['-y', '@scope/token-server@1.0.0'] }, false],
    [{ url: 'https://x/mcp?profile=main' }, false],
  ];
  test.each(rows)('%j: %s', (entry, secret) => {
    expect(codes(entry).includes('literal_secret')).toBe(secret);
    expect(codes(entry, 'user')).not.toContain('literal_secret');
  });

  test('are named by their place, never shown', () => {
    const [reason] = adviseOn('s', { env: { TOKEN: 'hunter2hunter2' } }, 'project');
    expect(reason?.text).toContain('TOKEN in env');
    expect(reason?.text).not.toContain('hunter2');
  });
});

describe('words that only a shell or another system understands', () => {
  const rows: readonly (readonly [entry: Json, expected: readonly string[]])[] = [
    [{ command: 'node', args: ['a.js', '&&', 'b'] }, ['shell_operator']],
    [{ command: 'node', args: ['a.js', '2>&1'] }, ['shell_operator']],
    [{ command: 'node', args: ['$(pwd)'] }, ['shell_operator']],
    [{ command: 'sh', args: ['-c', 'a && b'] }, []],
    [{ command: 'bash', args: ['-c', 'a', '|', 'b'] }, []],
    [{ command: 'cmd.exe', args: ['/c', 'a', '&&', 'b'] }, []],
    [{ command: 'node', args: ['-e', 'a && b'] }, []],
    [{ command: 'srv', args: ['~/docs'] }, ['shell_expansion']],
    [{ command: 'srv', args: ['$HOME/docs'] }, ['shell_expansion']],
    [{ command: 'srv', args: ['--dir=%APPDATA%\\x'] }, ['shell_expansion']],
    [{ command: '~/bin/srv' }, ['shell_expansion']],
    [{ command: './srv' }, ['relative_command']],
    [{ command: 'bin/srv' }, ['relative_command']],
    [{ command: '/usr/bin/srv' }, []],
    [{ command: 'C:\\srv.exe' }, ['windows_path']],
    [{ command: `\${HOME}/srv` }, []],
    [{ env: { KEY: '<your key>' }, command: 'srv' }, ['placeholder']],
  ];
  test.each(rows)('%j: %j', (entry, expected) => expect(codes(entry)).toEqual(expected));
});

describe('packages without a version', () => {
  const rows: readonly (readonly [command: string, args: readonly string[], name: string | undefined])[] = [
    ['npx', ['-y', '@scope/server'], '@scope/server'],
    ['npx', ['-y', '@scope/server@latest', '--x'], '@scope/server'],
    ['npx', ['server@^1'], 'server'],
    ['npx', ['--package=server', 'bin'], 'server'],
    ['npx', ['-p', 'server', 'bin'], 'server'],
    ['/usr/local/bin/npx', ['server'], 'server'],
    ['cmd', ['/c', 'npx', '-y', 'server'], 'server'],
    ['npx.cmd', ['server'], 'server'],
    ['bunx', ['server'], 'server'],
    ['pnpm', ['dlx', 'server'], 'server'],
    ['npm', ['exec', '--', 'server'], 'server'],
    ['uvx', ['mcp-server-git'], 'mcp-server-git'],
    ['uvx', ['--from', 'git+https://x/y', 'bin'], 'git+https://x/y'],
    ['uvx', ['pkg>=1.0'], 'pkg'],
    ['uv', ['tool', 'run', 'pkg'], 'pkg'],
    ['pipx', ['run', 'pkg'], 'pkg'],
    ['npx', ['github:a/b'], 'github:a/b'],
    ['npx', ['-y', '@scope/server@1.2.3'], undefined],
    ['npx', ['server@1.2.3-beta.1'], undefined],
    ['uvx', ['pkg==1.2.3'], undefined],
    ['uvx', ['pkg@1.2.3'], undefined],
    ['npx', ['./server'], undefined],
    ['npx', ['--version'], undefined],
    ['npm', ['run', 'start'], undefined],
    ['uv', ['run', 'server.py'], undefined],
    ['node', ['server.js'], undefined],
    ['npx', [], undefined],
  ];
  test.each(rows)('%s %j: %s', (command, args, name) => expect(unpinnedPackage(command, args)?.name).toBe(name));
});
