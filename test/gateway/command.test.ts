/** `bridle gateway` as a person and a client meet it: a process of its own, with the files that people have. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { type Person, person, runBridle, type Started, startBridle, stillAlive } from '../helpers/cli-process.ts';
import { textOf } from './world.ts';

const BIN = fileURLToPath(new URL('../../bin/bridle.js', import.meta.url));
const PARTS = fileURLToPath(new URL('fixture-server.mjs', import.meta.url));

let somebody: Person;
let gateway: Started | undefined;
const clients: Client[] = [];
beforeEach(async () => {
  somebody = await person();
  const parts = { command: process.execPath, args: [PARTS, somebody.mark] };
  await somebody.servers({ parts, sdk: somebody.fixture('sdk-v1.mjs') });
});
afterEach(async () => {
  for (const each of clients.splice(0)) await each.close().catch(() => {});
  gateway?.child.kill('SIGKILL');
  await gateway?.ended;
  gateway = undefined;
  expect(await stillAlive(somebody)).toEqual([]);
  await somebody.remove();
});

interface Served {
  readonly url: string;
  readonly key?: string;
  readonly operations?: string;
  readonly servers: readonly { readonly server: string; readonly state: string; readonly tools: number }[];
}

async function started(args: readonly string[] = []): Promise<Served> {
  gateway = startBridle(['gateway', '--json', '--port', '0', '--trust-project', ...args], somebody);
  await gateway.said(/"type":\s*"served".*\n/);
  const line = gateway
    .output()
    .split('\n')
    .find((each) => each.includes('"served"'));
  return JSON.parse(line ?? '') as Served;
}

async function client(url: string, key: string): Promise<Client> {
  const one = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const headers = { authorization: `Bearer ${key}` };
  await one.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  clients.push(one);
  return one;
}

async function agents(file: object): Promise<void> {
  const folder = join(somebody.env.XDG_CONFIG_HOME ?? '', 'bridle');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'gateway.json'), JSON.stringify(file));
}

/** A key as `bridle gateway key` gives it. */
async function madeKey(name: string): Promise<{ readonly key: string; readonly digest: string }> {
  const { stdout } = await runBridle(['gateway', 'key', name, '--json'], somebody);
  return JSON.parse(stdout) as { key: string; digest: string };
}

test('without a file it is for one person, who pastes the line that it prints, and approves what is asked', async () => {
  const { url, key, servers, operations } = await started(['--operations-port', '0']);
  expect((await fetch(`${operations}/readyz`)).status).toBe(200);
  expect(servers).toMatchObject([
    { server: 'parts', state: 'ready', tools: 8 },
    { server: 'sdk', state: 'ready', tools: 4 },
  ]);
  const one = await client(url, key ?? '');
  const add = () => one.callTool({ name: 'mcp__sdk__add', arguments: { a: 1, b: 2 } });
  const { approval } = JSON.parse(textOf(await add())) as { approval: string };
  const approved = await runBridle(['approvals', 'approve', approval], somebody);
  expect(approved.status).toBe(0);
  expect(await add()).toMatchObject({ structuredContent: { sum: 3 } });
  await gateway?.said(/"end":\s*"parked"[\s\S]*"end":\s*"ok"/);
  const audit = await runBridle(['audit', 'list', '--json'], somebody);
  expect(audit.stdout).toContain('mcp__sdk__add');
  gateway?.child.kill('SIGTERM');
  expect((await gateway?.ended)?.status).toBe(0);
});

test('with a file each key is one agent, and a rule that nobody may lose is never lost', async () => {
  const { key, digest } = await madeKey('support');
  await agents({ agents: { support: { keys: [digest], allow: ['mcp__sdk__add'] } } });
  const { url } = await started();
  const one = await client(url, key);
  expect((await one.listTools()).tools.map(({ name }) => name)).toEqual(['mcp__sdk__add']);
  expect(await one.callTool({ name: 'mcp__sdk__add', arguments: { a: 1, b: 2 } })).toMatchObject({
    structuredContent: { sum: 3 },
  });
  gateway?.child.kill('SIGTERM');
  await gateway?.ended;
  await writeFile(
    join(somebody.env.XDG_CONFIG_HOME ?? '', 'bridle', 'gateway.json'),
    `{"agents": {"support": {"keys": ["${digest}"], "deny": ["mcp__sdk"], "deny": []}}}`,
  );
  const twice = await runBridle(['gateway', '--json', '--trust-project'], somebody);
  expect(JSON.parse(twice.stdout)).toMatchObject({ error: { code: 'config_key_twice' } });
  expect(twice.status).toBe(2);
});

test('a client that starts its servers has it over stdio, as the agent that is named', async () => {
  await agents({ agents: { a: { allow: ['mcp__sdk__add'] }, b: { keys: [(await madeKey('b')).digest] } } });
  const one = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const args = [BIN, 'gateway', '--stdio', '--as', 'a', '--trust-project'];
  await one.connect(
    new StdioClientTransport({ command: process.execPath, args, cwd: somebody.cwd, env: { ...somebody.env } }),
  );
  clients.push(one);
  expect((await one.listTools()).tools.map(({ name }) => name)).toEqual(['mcp__sdk__add']);
  expect(await one.callTool({ name: 'mcp__sdk__add', arguments: { a: 1, b: 2 } })).toMatchObject({
    structuredContent: { sum: 3 },
  });
});

test('--check says what each agent would have, and ends with 1 where something is wrong', async () => {
  await agents({ agents: { a: { allow: ['mcp__sdk__add'], ask: ['mcp__sdk__who', 'mcp__sdk__nothing'] } } });
  await somebody.servers({ sdk: somebody.fixture('sdk-v1.mjs') });
  const { digest } = await madeKey('a');
  const good = { keys: [digest], allow: ['mcp__sdk__add'], ask: ['mcp__sdk__who'] };
  await agents({ agents: { a: good } });
  const checked = await runBridle(['gateway', '--check', '--trust-project'], somebody);
  expect(checked.stdout).toMatch(
    /sdk {2}4 tools[\s\S]*a {2}1 key, 2 tools[\s\S]*mcp__sdk__add {2}allow\n[\s\S]*mcp__sdk__who {2}ask/,
  );
  expect([checked.status, checked.stderr]).toEqual([0, '']);
  await agents({ agents: { a: { ...good, allow: ['mcp__sdk__ad'] } } });
  const wrong = await runBridle(['gateway', '--check', '--json', '--trust-project'], somebody);
  expect(wrong.status).toBe(1);
  expect(JSON.parse(wrong.stdout).problems).toMatchObject([{ code: 'gateway_rule_unused' }]);
});

test.each<[string, readonly string[], string, number]>([
  ['an address that others reach, and nobody who could be known', ['--host', '0.0.0.0'], 'gateway_no_agents', 2],
  ['a file that is not there', ['--config', 'none.json'], 'config_missing', 2],
  ['a port that is none', ['--port', '70000'], 'usage', 2],
  ['a verb that there is not', ['start'], 'usage', 2],
  ['an agent that there is not', ['--stdio', '--as', 'nobody'], 'gateway_agent_unknown', 2],
])('%s is an error that says what to do', async (_, args, code, status) => {
  const ended = await runBridle(['gateway', ...args, '--trust-project', '--json'], somebody);
  expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code, hint: expect.any(String) } });
  expect(ended.status).toBe(status);
});

test('nothing of a folder that nobody trusted is started', async () => {
  const ended = await runBridle(['gateway', '--json'], somebody);
  expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code: 'project_not_trusted' } });
  expect(ended.status).toBe(7);
});
