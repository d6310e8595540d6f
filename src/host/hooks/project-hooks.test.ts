import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readBridleFile } from '../bridle-json.ts';
import { parseConfig } from '../config-file.ts';
import { readHooks } from './project-hooks.ts';

let folder: string;
let root: string;
let env: Record<string, string>;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'bridle-hooks-')));
  root = join(folder, 'project');
  env = { HOME: join(folder, 'home') };
  await mkdir(join(root, '.claude'), { recursive: true });
  await mkdir(join(folder, 'home', '.claude'), { recursive: true });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const events = (command: string) => ({ PreToolUse: [{ hooks: [{ type: 'command', command }] }] });
const file = (owner: 'user' | 'project', content: object, name = 'bridle.json') =>
  readBridleFile(parseConfig(name, JSON.stringify(content)), owner);
const claude = (where: string, content: object) =>
  writeFile(join(folder, where, '.claude', 'settings.json'), JSON.stringify(content));

async function states(files: Parameters<typeof readHooks>[2]) {
  const { hooks, warnings } = await readHooks(root, env, files);
  const found = hooks.map(({ entry, off }) => [('command' in entry && entry.command) || '', off === undefined]);
  return { runs: Object.fromEntries(found), codes: warnings.map(({ code }) => code) };
}

test('the person turns off all hooks but those of an administrator', async () => {
  const files = {
    managed: file('user', { hooks: events('managed') }).hooks,
    user: file('user', { hooks: { ...events('user'), from: 'claude' }, disableAllHooks: true }).hooks,
    local: file('user', { hooks: events('local') }).hooks,
    project: file('project', { hooks: events('project') }).hooks,
  };
  await claude('project', { hooks: events('project of Claude Code') });
  await claude('home', { hooks: events('user of Claude Code') });
  expect(await states(files)).toEqual({
    runs: {
      managed: true,
      user: false,
      'user of Claude Code': false,
      project: false,
      'project of Claude Code': false,
      local: false,
    },
    codes: ['hooks_disabled'],
  });
});

test('an administrator turns off all', async () => {
  const managed = file('user', { hooks: events('managed'), disableAllHooks: true }).hooks;
  const user = file('user', { hooks: events('user') }).hooks;
  expect(await states({ managed, user })).toEqual({
    runs: { managed: false, user: false },
    codes: ['hooks_disabled'],
  });
});

test("the person's Claude Code settings turn off the hooks of such settings, and no others", async () => {
  const user = file('user', { hooks: { ...events('user'), from: 'claude' } }).hooks;
  await claude('home', { hooks: events('user of Claude Code'), disableAllHooks: true });
  await claude('project', { hooks: events('project of Claude Code') });
  expect(await states({ user })).toEqual({
    runs: { user: true, 'user of Claude Code': false, 'project of Claude Code': false },
    codes: ['hooks_disabled'],
  });
});

test("a project's files turn off nothing, whatever leads to them", async () => {
  const { hooks: project, warnings } = file('project', { hooks: events('project'), disableAllHooks: true });
  expect(warnings.map(({ code }) => code)).toEqual(['hooks_disable_not_yours']);
  const user = file('user', { hooks: { ...events('user'), from: 'claude' } }).hooks;
  await claude('project', { hooks: events('project of Claude Code'), disableAllHooks: true });
  await symlink(join(root, '.claude', 'settings.json'), join(folder, 'home', '.claude', 'settings.json'));
  expect(await states({ user, project })).toEqual({
    runs: { user: true, project: true, 'project of Claude Code': true },
    codes: ['hooks_disable_not_yours'],
  });
});

test.each([
  ['no true', '"disableAllHooks": "true"', ['hooks_disable_invalid']],
  ['false', '"disableAllHooks": false', []],
  ['two words', '"disableAllHooks": false, "disableAllHooks": true', ['duplicate_key']],
])('%s turns off nothing', (_, text, codes) => {
  const read = readBridleFile(parseConfig('bridle.json', `{${text}}`), 'user');
  expect(read.hooks.off).toBeUndefined();
  expect(read.warnings.map(({ code }) => code)).toEqual(codes);
});

test.each(['hook', 'Hooks', 'hoks'])('a file with "%s" is not taken for one without hooks', (name) => {
  expect(() => file('user', { [name]: events('exit 2') })).toThrow('Did you mean "hooks"?');
});
