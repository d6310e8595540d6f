import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { compilePolicy } from '../policy/index.ts';
import { readBridleFile } from './bridle-json.ts';
import { parseConfig } from './config-file.ts';
import { loadProject } from './load-project.ts';
import { rulePlaces } from './server-places.ts';

let base = '';
let root = '';
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-rules-')));
  root = join(base, 'project');
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true }));

const places = () => {
  const options = { env: {}, configDir: join(base, 'config'), managedFile: join(base, 'managed/mcp.json') };
  return { options, ...rulePlaces(root, options), project: join(root, 'bridle.json') };
};
function put(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
}
const load = (more: { readonly mode?: string; readonly allow?: readonly string[] } = {}) =>
  loadProject({ cwd: root, stateDir: join(base, 'state'), trustProject: true, ...places().options, ...more });

test('the log level of servers is the administrator’s, else the one of this folder, else the user’s', async () => {
  const { managed, user, local } = places();
  for (const [path, serverLog] of [
    [user, 'debug'],
    [local, 'info'],
    [managed, 'off'],
  ] as const) {
    put(path, { serverLog });
    expect((await load()).serverLog).toBe(serverLog);
  }
});

describe('layers', () => {
  test('rules come from the managed, user, local and project files and the command line, in that order', async () => {
    const { managed, user, local, project } = places();
    for (const path of [managed, user, local, project]) put(path, { permissions: { allow: ['mcp__a'] } });
    const { layers } = await load({ allow: ['mcp__b'] });
    expect(layers.map(({ scope, file }) => [scope, file])).toEqual([
      ['managed', managed],
      ['user', user],
      ['local', local],
      ['project', project],
      ['session', '--allow'],
    ]);
  });

  test('no lower layer loosens what a higher one says: asks beat allows, and denies beat both, wherever they stand', () => {
    const scopes = ['managed', 'user', 'project', 'local', 'session'] as const;
    const who = { agent: 'a', via: 'library' } as const;
    const ref = { server: null, tool: 'work', name: 'work', fingerprint: 'f' };
    const raw = { text: '{}', parse: () => ({}) };
    const tool = { ref, description: '', inputSchema: {}, raw, effect: 'write' } as const;
    for (const higher of scopes) {
      for (const lower of scopes) {
        for (const kind of ['ask', 'deny'] as const) {
          const layers = [
            { scope: higher, file: 'h', permissions: { [kind]: ['work'] }, trusted: true },
            { scope: lower, file: 'l', permissions: { allow: ['work'] }, trusted: true },
          ];
          expect(compilePolicy(layers, { mode: 'bypassPermissions' }).policy.view(who, tool).effect).toBe(kind);
        }
      }
    }
  });

  test("the administrator's mode is the mode, and who asked for another is told", async () => {
    const { managed, user, local } = places();
    put(user, { mode: 'plan' });
    expect((await load()).mode).toBe('plan');
    put(local, { mode: 'dontAsk' });
    expect((await load()).mode).toBe('dontAsk');
    expect((await load({ mode: 'default' })).mode).toBe('default');
    put(managed, { mode: 'default' });
    const project = await load({ mode: 'bypassPermissions' });
    expect(project.mode).toBe('default');
    expect(project.warnings.map(({ code }) => code)).toEqual(['mode_managed', 'setting_managed', 'setting_managed']);
  });

  test('a limit or another setting of yours that an administrator set otherwise is ignored with a warning', async () => {
    const { managed, user, local } = places();
    const lends = (requests: number) => ({ sampling: { servers: { a: { maxTokens: 100, requests } } } });
    const preview = (tool: string) => ({ previews: { mcp__a__pay: { tool } } });
    put(managed, {
      ...lends(5),
      ...preview('look'),
      approvals: { park: true },
      serverLog: 'off',
      pins: { mode: 'off' },
    });
    put(local, { ...lends(5), ...preview('look'), approvals: { waitSeconds: 5 }, pins: { mode: 'off' } });
    expect((await load()).warnings).toEqual([]);
    put(user, {
      sampling: { servers: { a: { maxTokens: 100, requests: 1 }, b: { requests: 1 } } },
      ...preview('other'),
      approvals: { park: false },
      serverLog: 'debug',
      pins: { mode: 'first-use' },
    });
    const { warnings } = await load();
    expect(warnings.map(({ code }) => code)).toEqual(warnings.map(() => 'setting_managed'));
    const what = warnings.map(({ text }) => text.split(' in ')[0]);
    expect(what).toEqual([
      '"pins"',
      '"serverLog"',
      '"park" of "approvals"',
      '"sampling" for "a"',
      'the preview of "mcp__a__pay"',
    ]);
    expect(warnings[0]?.text).toContain(user);
  });

  test('limits where none are read are told of in every layer: unknown, inside of an argument, too deep', async () => {
    const { managed, user, local, project } = places();
    for (const path of [managed, user, local, project]) {
      put(path, {
        limits: { turns: 3 },
        approvals: { limits: { perDay: 2 } },
        views: {
          [`v_${dirname(path).length}_${path.length}`]: {
            server: 's',
            tool: `t${path.length}`,
            limits: { '/order/amount': 5 },
          },
        },
      });
    }
    const { warnings } = await load();
    const told = (code: string, file: string) =>
      warnings.filter((one) => one.code === code && one.source?.file === file).map(({ text }) => text);
    for (const path of [managed, user, local, project]) {
      expect(told('unknown_key', path)).toEqual([
        expect.stringContaining('"limits"'),
        expect.stringContaining('"limits"'),
      ]);
      expect(told('view_invalid', path)).toEqual([expect.stringContaining('limits')]);
    }
    const nested = (depth: number): Json => (depth === 0 ? { agent: 'a' } : { not: nested(depth - 1) });
    const allow = [{ tool: 'mcp__a__b', when: nested(20) }] as never;
    const { problems } = compilePolicy([{ scope: 'user', file: 'f', permissions: { allow }, trusted: true }]);
    expect(problems.map(({ text }) => text)).toEqual([expect.stringContaining('nested more than 16 levels deep')]);
  });
});

describe('rules that are objects', () => {
  const schema = JSON.parse(readFileSync(new URL('../../schema/bridle.schema.json', import.meta.url), 'utf8'));
  const accepts = new Ajv2020({ strict: true, strictRequired: false }).compile(schema);
  const rows: readonly [rule: Json, isSound: boolean][] = [
    [{ tool: 'mcp__a__b' }, true],
    [{ tool: 'mcp__a__b', when: { 'args:/x': { '<=': '5.00' } }, reason: 'r' }, true],
    [{ tool: 'mcp__a__b', when: { any: [{ agent: 'x' }, { not: { label: ['unknown', 'server:b'] } }] } }, true],
    [{ tool: 'mcp__a__b', when: { time: { hours: '09:00-17:00', weekdays: ['mon'], zone: 'UTC' } } }, true],
    [{ tool: 'mcp__a__b', when: { 'origin:/to': ['user', 'result:crm'], 'args:': { exists: true } } }, true],
    [{ tool: 'mcp__a__b', when: { 'args:/x': { inside: ['a', 'b'], not: { matches: 'x.*' } } } }, true],
    [{ when: { agent: 'x' } }, false],
    [{ tool: 'mcp__a__b', when: {} }, false],
    [{ tool: 'mcp__a__b', if: { agent: 'x' } }, false],
    [{ tool: 'mcp__a__b', when: { args: 5 } }, false],
    [{ tool: 'mcp__a__b', when: { 'args:x': 5 } }, false],
    [{ tool: 'mcp__a__b', when: { 'args:/x': { '<': 'b' } } }, false],
    [{ tool: 'mcp__a__b', when: { 'args:/x': [] } }, false],
    [{ tool: 'mcp__a__b', when: { time: {} } }, false],
    [{ tool: 'mcp__a__b', when: { scope: 5 } }, false],
    [{ tool: 'mcp__a__b', reason: 5 }, false],
  ];
  test.each(rows)('the published schema and the policy agree about %j', (rule, isSound) => {
    expect(accepts({ permissions: { deny: [rule] } })).toBe(isSound);
    const file = parseConfig('/p/bridle.json', JSON.stringify({ permissions: { deny: [rule] } }));
    const { permissions, lineOf } = readBridleFile(file, 'user');
    const { problems } = compilePolicy([{ scope: 'user', file: 'f', permissions, lineOf, trusted: true }]);
    expect(problems.length === 0).toBe(isSound);
  });

  test('a condition that stands twice in a rule stops everything, as one of the two would be lost', () => {
    const text = '{"permissions": {"allow": [{"tool": "mcp__a__b", "when": {"args:/x": 1,\n "args:/x": 2}}]}}';
    expect(() => readBridleFile(parseConfig('/p/bridle.json', text), 'user')).toThrow('/p/bridle.json:2: "args:/x"');
  });
});
