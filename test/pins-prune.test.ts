/** Pins of servers that nobody can see any more are kept while they may be there all the same. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pinRecords } from '../src/cli/workspace-pins.ts';
import { type Home, newHome } from './helpers/home.ts';
import { bridle } from './helpers/terminal.ts';

const SHOP = { command: 'shop-server' };

let at: Home;
beforeEach(async () => {
  at = await newHome();
  const { known, close } = await pinRecords(at, at.cwd);
  known.instructions({ key: 'shop', fingerprint: 'of before' }, 'Sell.');
  await close();
});
afterEach(() => at.remove());

const pins = (...args: string[]) => bridle(['pins', ...args], at);
const pinned = async () => (JSON.parse((await pins('list', '--json')).stdout).pins as unknown[]).length;
const file = (text: string) => writeFile(join(at.cwd, '.mcp.json'), text);

test.each([
  ['servers that are a list', JSON.stringify({ mcpServers: [] }), '"mcpServers" is a list'],
  ['a misspelt key', JSON.stringify({ mcpServer: { shop: SHOP } }), 'Did you mean "mcpServers"?'],
  ["another host's key", JSON.stringify({ servers: { shop: SHOP } }), 'rename it to "mcpServers"'],
  ['a server outside of the key', JSON.stringify({ shop: SHOP, mcpServers: {} }), 'Put servers inside "mcpServers".'],
  ['the key twice', `{"mcpServers":{"shop":{"command":"shop-server"}},"mcpServers":{}}`, 'stands twice'],
  ['a server twice', `{"mcpServers":{"other":{"command":"a"},"other":{"command":"b"}}}`, 'stands twice'],
])('prune takes nothing away where a file has %s', async (_, text, said) => {
  await file(text);
  for (const more of [[], ['--dry-run'], ['--json']]) {
    const { status, stdout, stderr } = await pins('prune', ...more);
    expect(status).toBe(2);
    expect(stderr).toContain(said);
    expect(`${stdout}${stderr}`).toContain('config_servers_unreadable');
  }
  expect(await pinned()).toBe(1);
});

test('prune takes nothing away where a file is no JSON', async () => {
  await file('{"mcpServers": {');
  expect((await pins('prune')).stderr).toContain('config_not_json');
  await at.servers({});
  expect(await pinned()).toBe(1);
});

test('prune keeps the pins of a server whose command line takes in a variable that is not set here', async () => {
  const named = join(at.home, 'named.json');
  await writeFile(named, JSON.stringify({ mcpServers: { shop: { ...SHOP, args: [`\${SHOP_FOLDER}`] } } }));
  const prune = async (more: Readonly<Record<string, string>>) =>
    (await bridle(['pins', 'prune', '--mcp-config', named, '--dry-run'], { ...at, env: { ...at.env, ...more } }))
      .stdout;
  expect(await prune({})).toBe('0 pins would be taken away.\n');
  expect(await prune({ SHOP_FOLDER: '/goods' })).toContain('1 pin would be taken away.');
});

test('what can hold no server is in the way of nothing', async () => {
  await file(JSON.stringify({ mcpServers: {}, inputs: [], version: 1 }));
  expect((await pins('prune')).stdout).toContain('1 pin taken away.');
  expect(await pinned()).toBe(0);
});
