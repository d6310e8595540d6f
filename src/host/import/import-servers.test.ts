import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Json } from '../../contracts/index.ts';
import { convertEntry } from './convert-entry.ts';
import { type ImportOptions, importServers } from './import-servers.ts';
import { foreignPlaces } from './places.ts';

let home = '';
let root = '';
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-import-')));
  root = join(home, 'project');
  mkdirSync(join(root, '.git'), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true }));

const put = (name: string, value: Json) => {
  const path = join(home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
};
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as { readonly mcpServers: Json };
const run = (more: Partial<ImportOptions> = {}) =>
  importServers({ cwd: root, env: { HOME: home }, configDir: join(home, 'own'), platform: 'linux', ...more });
const summary = async (more: Partial<ImportOptions> = {}) => {
  const { taken, left } = await run(more);
  return {
    taken: taken.map(({ key, scope }) => `${scope} ${key}`),
    left: left.map(({ key, reason }) => `${key} ${reason.code}`),
  };
};
const servers = (...names: readonly string[]) => ({
  mcpServers: Object.fromEntries(names.map((name) => [name, { command: 'srv', args: [name] }])),
});

describe('where servers are found, and where they go', () => {
  test('files of the home are the person’s, files of the project the project’s, and those of a project in ~/.claude.json local', async () => {
    put('.claude.json', {
      ...servers('everywhere'),
      projects: { [root]: servers('here'), '/elsewhere': servers('there', 'too'), '/none': { mcpServers: {} } },
    });
    put('.claude/settings.json', { model: 'x', ...servers('mistaken') });
    put('.config/Claude/claude_desktop_config.json', servers('desktop'));
    put('.cursor/mcp.json', servers('cursor'));
    put('project/.vscode/mcp.json', { servers: { vscode: { command: 'srv' } } });
    put('project/.cursor/mcp.json', servers('cursor'));
    put('project/.claude/settings.json', servers('settings'));
    put('project/.claude/settings.local.json', servers('private'));
    expect(await summary()).toEqual({
      taken: [
        'user everywhere',
        'local here',
        'user mistaken',
        'user desktop',
        'user cursor',
        'project vscode',
        'project cursor',
        'project settings',
        'project private',
      ],
      left: ['null other_project'],
    });
    expect(Object.keys(read(join(root, '.mcp.json')).mcpServers as object)).toEqual([
      'vscode',
      'cursor',
      'settings',
      'private',
    ]);
    expect(Object.keys(read(join(home, 'own', 'mcp.json')).mcpServers as object)).toHaveLength(4);
  });

  test('Claude Desktop keeps its file elsewhere on macOS, and on Linux where XDG says', () => {
    const desktop = (platform: NodeJS.Platform, env: Record<string, string>) =>
      foreignPlaces('/p', { env, platform }).find(({ file }) => file.includes('desktop'))?.file;
    expect(desktop('darwin', { HOME: '/h' })).toBe('/h/Library/Application Support/Claude/claude_desktop_config.json');
    expect(desktop('linux', { HOME: '/h' })).toBe('/h/.config/Claude/claude_desktop_config.json');
    expect(desktop('linux', { HOME: '/h', XDG_CONFIG_HOME: '/x' })).toBe('/x/Claude/claude_desktop_config.json');
  });

  test('a file that is named is local, unless it lies in the project, also behind a link', async () => {
    put('elsewhere.json', servers('a'));
    put('project/inside.json', servers('b'));
    expect((await summary({ from: ['../elsewhere.json', 'inside.json'] })).taken).toEqual(['local a', 'project b']);
    expect((await summary({ from: ['inside.json'], scope: 'user' })).taken).toEqual(['user b']);
    await expect(run({ from: ['none.json'] })).rejects.toMatchObject({ code: 'config_missing' });
  });

  test('one that is broken costs itself alone, unless it was named', async () => {
    put('.claude.json', '{ "mcpServers": ');
    put('.cursor/mcp.json', servers('a'));
    expect(await summary()).toEqual({ taken: ['user a'], left: ['null config_not_json'] });
    await expect(run({ from: [join(home, '.claude.json')] })).rejects.toMatchObject({ code: 'config_not_json' });
  });

  test('a history of many megabytes is read', async () => {
    put('.claude.json', { history: 'x'.repeat(3_000_000), ...servers('a') });
    expect((await summary()).taken).toEqual(['user a']);
  });
});

describe('what is there already', () => {
  test('stays, unless it is to be replaced; the same once more is no clash', async () => {
    put('.cursor/mcp.json', servers('a', 'b'));
    put(
      'own/mcp.json',
      '{\n  // mine\n  "mcpServers": { "a": { "command": "other" }, "b": { "args": ["b"], "command": "srv" } }\n}\n',
    );
    expect(await summary()).toEqual({ taken: [], left: ['a import_exists', 'b import_same'] });
    expect(await summary({ force: true })).toEqual({ taken: ['user a'], left: ['b import_same'] });
    expect(readFileSync(join(home, 'own', 'mcp.json'), 'utf8')).toContain('// mine');
  });

  test('of two files with one name the first is taken', async () => {
    put('.claude.json', { mcpServers: { a: { command: 'first' } } });
    put('.cursor/mcp.json', { mcpServers: { a: { command: 'second' } } });
    expect(await summary({ force: true })).toEqual({ taken: ['user a'], left: ['a import_exists'] });
    expect(read(join(home, 'own', 'mcp.json')).mcpServers).toEqual({ a: { command: 'first' } });
  });
});

describe('how an entry is converted', () => {
  const source = { file: '/f', line: 1 };
  const rows: readonly (readonly [value: Json, entry: Json, codes: readonly string[]])[] = [
    [{ command: 'a', args: [`\${input:api-key}`] }, { command: 'a', args: [`\${INPUT_API_KEY}`] }, ['input_variable']],
    [{ command: 'a', env: { A: `\${env:B}` } }, { command: 'a', env: { A: `\${B}` } }, ['variable_renamed']],
    [{ command: `\${workspaceFolder}/a` }, { command: `\${CLAUDE_PROJECT_DIR}/a` }, ['variable_renamed']],
    [{ serverUrl: 'https://x' }, { url: 'https://x' }, ['key_renamed']],
    [{ url: 'https://x', serverUrl: 'https://y' }, { url: 'https://x' }, ['key_left']],
    [{ type: 'streamableHttp', url: 'https://x' }, { type: 'http', url: 'https://x' }, ['type_renamed']],
    [{ command: 'npx -y srv' }, { command: 'npx', args: ['-y', 'srv'] }, ['command_split']],
    [{ command: '/My App/srv' }, { command: '/My App/srv' }, []],
    [{ command: 'my "srv"' }, { command: 'my "srv"' }, []],
    [{ command: 'a', enabled: false }, { command: 'a', disabled: true }, []],
    [{ command: 'a', enabled: true }, { command: 'a' }, []],
    [{ command: 'a', trust: true, alwaysAllow: ['x'] }, { command: 'a' }, ['key_left', 'key_left']],
    [{ command: 'a', era: 'legacy', hardMs: 5 }, { command: 'a', era: 'legacy', hardMs: 5 }, []],
  ];
  test.each(rows)('%j', (value, entry, codes) => {
    const converted = convertEntry({ key: 's', value, source });
    expect('left' in converted ? converted.left : converted.entry).toEqual(entry);
    expect('left' in converted ? [] : converted.notes.map(({ code }) => code)).toEqual(codes);
  });
});
