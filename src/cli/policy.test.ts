import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CommandIo } from './command.ts';
import { run } from './policy.ts';

let base = '';
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-policy-')));
  mkdirSync(join(base, 'project'));
});
afterEach(() => rmSync(base, { recursive: true }));

const put = (name: string, value: unknown) =>
  writeFileSync(join(base, 'project', name), typeof value === 'string' ? value : JSON.stringify(value));

async function policy(positionals: readonly string[], options: readonly (readonly [string, boolean | string])[] = []) {
  let out = '';
  const stream = {
    isTTY: false,
    write(text: string) {
      out += text;
      return true;
    },
  };
  const io = {
    cwd: join(base, 'project'),
    env: { XDG_CONFIG_HOME: join(base, 'config'), XDG_STATE_HOME: join(base, 'state'), HOME: base },
    stdin: process.stdin,
    stdout: stream,
    stderr: stream,
  } as unknown as CommandIo;
  const status = await run({ positionals, options: new Map(options) }, io);
  return { status, out };
}

const RULES = {
  permissions: {
    allow: [{ tool: 'mcp__shop__refund', when: { 'facts:/amount': { '<=': '50.00' } } }, 'mcp__shop__get_*'],
    ask: [{ tool: 'mcp__mail__send', when: { not: { 'origin:/to': 'user' } } }],
    deny: [{ tool: 'mcp__shop__*', when: { agent: 'guest' }, reason: 'Guests look elsewhere.' }],
  },
};
const CASES = [
  { tool: 'mcp__shop__refund', facts: { amount: '50.00' }, expect: 'allow' },
  { tool: 'mcp__shop__refund', facts: { amount: '50.01' }, expect: 'ask' },
  { tool: 'mcp__shop__refund', expect: 'ask' },
  { tool: 'mcp__shop__get_order', effect: 'read', agent: 'guest', expect: 'deny' },
  { tool: 'mcp__mail__send', args: { to: 'a' }, origins: { '/to': 'result:crm' }, expect: 'ask' },
];

test('check names each problem with its file and line, and says by its status whether there are any', async () => {
  put('bridle.json', RULES);
  expect(await policy(['check'])).toMatchObject({ status: 0 });
  put(
    'bridle.json',
    '{"permissions": {"deny": [\n"mcp__*",\n{"tool": "mcp__a__b", "when": {"args:/x": {"matches": "("}}}]}}',
  );
  const { status, out } = await policy(['check']);
  expect(status).toBe(1);
  expect(out).toContain('bridle.json:2');
  expect(out).toContain('bridle.json:3');
  expect(out).toContain('2 problems.');
});

test('test says which cases came out otherwise, and why', async () => {
  put('bridle.json', RULES);
  put('good.json', { cases: CASES });
  expect(await policy(['test', 'good.json'])).toEqual({ status: 0, out: '5 cases, 0 failed.\n' });
  put('bad.json', { cases: [{ ...CASES[3], name: 'guests may read', expect: 'allow' }, ...CASES] });
  const { status, out } = await policy(['test', 'bad.json']);
  expect(status).toBe(1);
  expect(out).toContain('guests may read: expected allow, got deny');
  expect(out).toContain('Guests look elsewhere.');
  expect(out).toContain('bridle.json:1');
  const json = JSON.parse((await policy(['test', 'bad.json'], [['json', true]])).out);
  expect(json).toMatchObject({ passed: 5, failed: 1 });
  expect(json.cases[0]).toMatchObject({ expected: 'allow', got: 'deny', passed: false });
});

test.each([
  [{ expect: 'allow' }, '"tool"'],
  [{ tool: 'mcp__a__b', expect: 'yes' }, '"expect"'],
  [{ tool: 'mcp__a__b', exspect: 'ask' }, '"exspect"'],
  [{ tool: 'mcp__a__b', expect: 'ask', origins: { '/x': 'me' } }, 'origin'],
  [{ tool: 'mcp__a__b', expect: 'ask', at: 'noon' }, '"at"'],
])('a case that cannot be read is named: %j', async (written, said) => {
  put('cases.json', { cases: [{ tool: 'mcp__a__b', expect: 'ask' }, written] });
  await expect(policy(['test', 'cases.json'])).rejects.toMatchObject({
    code: 'policy_case_invalid',
    message: expect.stringContaining('case 2'),
  });
  await expect(policy(['test', 'cases.json'])).rejects.toThrow(said);
});

test('test holds a case that names a view to the view, and to the rules of both names', async () => {
  const url = { as: 'page', hosts: ['docs.example.com'] };
  put('bridle.json', {
    permissions: { allow: ['mcp__web__*'], ask: [{ tool: 'mcp__web__fetch', when: { 'args:/limit': { '>': 5 } } }] },
    views: {
      load_page: { server: 'web', tool: 'fetch', arguments: { url, follow: { fixed: false } } },
      load_old: { server: 'web', tool: 'fetch_old', arguments: { url: { as: 5 } } },
    },
  });
  const page = 'https://docs.example.com/a';
  const tool = 'mcp__web__load_page';
  put('cases.json', {
    cases: [
      { tool, args: { page }, expect: 'ask' },
      { tool, args: { page, limit: 3 }, expect: 'allow' },
      { tool, args: { page, limit: 6 }, expect: 'ask' },
      { tool, args: { page: 'https://evil.test/' }, expect: 'deny' },
      { tool, args: { page, follow: true }, expect: 'deny' },
      { tool, expect: 'deny' },
      { tool: 'mcp__web__load_old', args: { url: page }, expect: 'deny' },
    ],
  });
  expect(await policy(['test', 'cases.json'])).toMatchObject({ status: 0, out: expect.stringContaining('0 failed') });
});

test('a table that is no JSON is named by its file, with the place', async () => {
  put('cases.json', '{bad');
  await expect(policy(['test', 'cases.json'])).rejects.toMatchObject({
    code: 'config_not_json',
    message: expect.stringContaining(`${join(base, 'project', 'cases.json')}:1:`),
  });
});
