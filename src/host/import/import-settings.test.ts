import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Json } from '../../contracts/index.ts';
import { loadProject } from '../load-project.ts';
import { type ImportSettingsOptions, importSettings } from './import-settings.ts';

let home = '';
let root = '';
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-settings-')));
  root = join(home, 'project');
  mkdirSync(join(root, '.git'), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true }));

const put = (name: string, value: Json) => {
  const path = join(home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
};
const run = (more: Partial<ImportSettingsOptions> = {}) =>
  importSettings({ cwd: root, env: { HOME: home }, configDir: join(home, 'own'), ...more });
const json = (name: string) => JSON.parse(readFileSync(join(home, name), 'utf8'));

test('rules for MCP tools are taken, and what has no meaning here is listed with its line', async () => {
  put(
    'project/.claude/settings.json',
    `{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": {
    "allow": ["mcp__db__query", "Bash(npm test:*)", "Read(./src/**)", "WebSearch", "mcp__*", "*"],
    "ask": ["mcp__db"],
    "deny": ["mcp__db__drop", "Read(./.env)", "mcp__shop__refund(amount:*)", "*"],
    "additionalDirectories": ["../x"]
  },
  "hooks": {}, "env": { "A": "b" }, "model": "opus", "enableAllProjectMcpServers": true, "mcpServers": {}
}`,
  );
  const { taken, left, mode } = await run();
  expect(taken.map(({ kind, rule, problem }) => [kind, rule, problem?.code])).toEqual([
    ['allow', 'mcp__db__query', undefined],
    ['ask', 'mcp__db', undefined],
    ['deny', 'mcp__db__drop', undefined],
    ['deny', 'mcp__shop__refund(amount:*)', 'rule_condition'],
    ['deny', '*', undefined],
  ]);
  expect(mode).toBeUndefined();
  expect(left.map(({ code, source }) => [code, source?.line])).toEqual([
    ['rule_left', 4],
    ['rule_left', 4],
    ['rule_left', 4],
    ['rule_left', 4],
    ['rule_left', 4],
    ['rule_left', 6],
    ['setting_left', 7],
    ['setting_left', 9],
    ['setting_left', 9],
    ['setting_left', 9],
    ['setting_left', 9],
    ['setting_left', 9],
  ]);
  expect(json('project/bridle.json')).toEqual({
    permissions: {
      allow: ['mcp__db__query'],
      ask: ['mcp__db'],
      deny: ['mcp__db__drop', 'mcp__shop__refund(amount:*)', '*'],
    },
  });
  const again = await run();
  expect([again.taken.length, again.left.filter(({ code }) => code === 'rule_same').length]).toEqual([0, 5]);
});

test('rules are added behind those that are there, and comments stay', async () => {
  put(
    'project/bridle.json',
    '{\n  "permissions": {\n    "allow": [\n      "mcp__a__b" // asked for by ops\n    ]\n  }\n}\n',
  );
  put('project/.claude/settings.local.json', { permissions: { allow: ['mcp__a__b', 'mcp__a__c'] } });
  await run();
  expect(readFileSync(join(root, 'bridle.json'), 'utf8')).toBe(
    '{\n  "permissions": {\n    "allow": [\n      "mcp__a__b", // asked for by ops\n      "mcp__a__c"\n    ]\n  }\n}\n',
  );
});

test('a dry run tells the same and writes nothing', async () => {
  put('.claude/settings.json', { permissions: { allow: ['mcp__a__b'], defaultMode: 'plan' } });
  put('project/.claude/settings.json', { permissions: { deny: ['mcp__a__c'] } });
  const { taken, mode } = await run({ dryRun: true });
  expect([taken.length, mode?.mode]).toEqual([2, 'plan']);
  expect(existsSync(join(home, 'own')) || existsSync(join(root, 'bridle.json'))).toBe(false);
});

test("a mode is taken from the person's own settings only, and never over one that the person chose here", async () => {
  put('.claude/settings.json', { permissions: { defaultMode: 'dontAsk' } });
  for (const name of ['settings.json', 'settings.local.json']) {
    put(`project/.claude/${name}`, { permissions: { defaultMode: 'bypassPermissions' } });
  }
  const { mode, left } = await run();
  expect(mode).toEqual({ mode: 'dontAsk', file: join(home, 'own', 'bridle.json') });
  expect(left.map(({ code }) => code)).toEqual(['mode_left', 'mode_left']);
  expect(json('own/bridle.json')).toEqual({ mode: 'dontAsk' });
  put('own/bridle.json', { mode: 'plan' });
  expect((await run()).mode).toBeUndefined();
  expect(json('own/bridle.json')).toEqual({ mode: 'plan' });
  // Also not by naming a project's file and putting it to the person.
  await run({ from: ['.claude/settings.json'], to: 'user' });
  rmSync(join(home, 'own', 'bridle.json'));
  expect((await run({ from: ['.claude/settings.json'], to: 'user' })).mode).toBeUndefined();
  const { mode: loaded } = await loadProject({
    cwd: root,
    env: {},
    configDir: join(home, 'own'),
    stateDir: join(home, 's'),
  });
  expect(loaded).toBeUndefined();
});

test.each(['{ "permissions": [] }', '{ "permissions": { "allow": "mcp__a__b", "deny": [7, null, ""] } }', '{}'])(
  'odd settings are left with their reason: %s',
  async (text) => {
    put('project/.claude/settings.json', text);
    const { taken } = await run();
    expect(taken).toEqual([]);
    expect(existsSync(join(root, 'bridle.json'))).toBe(false);
  },
);

test('one that is no JSON costs itself alone, unless it was named', async () => {
  put('.claude/settings.json', '{');
  put('project/.claude/settings.json', { permissions: { deny: ['mcp__a__c'] } });
  const { taken, left } = await run();
  expect([taken.length, left[0]?.code]).toEqual([1, 'config_not_json']);
  await expect(run({ from: [join(home, '.claude', 'settings.json')] })).rejects.toMatchObject({
    code: 'config_not_json',
  });
});
