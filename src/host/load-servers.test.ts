import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TrustRequest } from './describe-trust.ts';
import { type LoadProjectOptions, loadProject } from './load-project.ts';
import type { ServerEntry } from './server-entry.ts';
import { serverPlaces } from './server-places.ts';
import { type TrustAsker, trustText } from './trust-prompt.ts';

let base = '';
let project = '';
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-project-')));
  project = join(base, 'project');
  mkdirSync(join(project, 'sub', 'deep'), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true }));

const put = (name: string, value: unknown) => {
  const path = join(base, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
};
const load = (more: Partial<LoadProjectOptions> = {}) =>
  loadProject({
    cwd: project,
    env: { TOKEN: 'secret-value' },
    configDir: join(base, 'config'),
    stateDir: join(base, 'state'),
    managedFile: join(base, 'managed.json'),
    ...more,
  });
const keys = (servers: readonly { readonly key: string }[]) => servers.map(({ key }) => key);

const commandOf = (server: ServerEntry) => ('command' in server ? server.command : '');

/** Answers, and keeps what it was asked. */
function answering(answer: boolean): { readonly ask: TrustAsker; readonly asked: TrustRequest[] } {
  const asked: TrustRequest[] = [];
  return {
    asked,
    ask: async (request) => {
      asked.push(request);
      return answer;
    },
  };
}

describe('scopes', () => {
  const local = () => serverPlaces(project, { env: {}, configDir: join(base, 'config') }).local.slice(base.length + 1);
  const server = (command: string, names: readonly string[] = ['a']) => ({
    mcpServers: Object.fromEntries(names.map((name) => [name, { command }])),
  });
  const winners = async (more: Partial<LoadProjectOptions> = {}) =>
    (await load({ trustProject: true, ...more })).servers.map((one) => [one.key, one.scope, commandOf(one)]);

  test('managed goes before local before project before user before plugin, and the whole entry of the winner counts', async () => {
    const plugins = [{ name: 'p', file: join(base, 'plugin.json') }];
    put('config/mcp.json', {
      mcpServers: { a: { command: 'u', args: ['x'], env: { A: '1' } }, plugin_p_a: { command: 'u' } },
    });
    put('plugin.json', server('p', ['a', 'b']));
    expect(await winners({ plugins })).toEqual([
      ['a', 'user', 'u'],
      ['plugin_p_a', 'user', 'u'],
      ['plugin_p_b', 'plugin', 'p'],
    ]);
    put('project/.mcp.json', server('pr'));
    expect((await winners())[0]).toEqual(['a', 'project', 'pr']);
    expect((await load({ trustProject: true })).warnings.map(({ code }) => code)).toEqual(['server_shadowed']);
    put(local(), server('l'));
    expect((await winners())[0]).toEqual(['a', 'local', 'l']);
    expect((await load({ trustProject: true })).warnings).toEqual([]);
    put('named.json', server('n'));
    expect((await winners({ mcpConfigFiles: [join(base, 'named.json')] }))[0]).toEqual(['a', 'local', 'n']);
    put('managed.json', server('m'));
    const loaded = await load({ trustProject: true, mcpConfigFiles: [join(base, 'named.json')] });
    expect(loaded.servers[0]).toMatchObject({ key: 'a', scope: 'managed', command: 'm', args: [], env: {} });
    expect(loaded.listed.filter(({ key }) => key === 'a').map(({ scope, state }) => [scope, state])).toEqual([
      ['managed', 'ready'],
      ['local', 'shadowed'],
      ['local', 'shadowed'],
      ['project', 'shadowed'],
      ['user', 'shadowed'],
    ]);
  });

  test("the person's own servers start without a question, in every folder or in this one only", async () => {
    put('config/mcp.json', server('u', ['everywhere']));
    put(local(), server('l', ['here']));
    expect(keys((await load()).servers)).toEqual(['here', 'everywhere']);
    put('other/.git/x', '');
    expect(keys((await load({ cwd: join(base, 'other') })).servers)).toEqual(['everywhere']);
  });

  test("an untrusted project's server does not take the place of the person's own", async () => {
    put('config/mcp.json', server('mine'));
    put('project/.mcp.json', server('theirs'));
    const loaded = await load({ untrusted: 'leave' });
    expect(loaded.servers.map(commandOf)).toEqual(['mine']);
    expect(loaded.listed.map(({ scope, state }) => [scope, state])).toEqual([
      ['project', 'untrusted'],
      ['user', 'ready'],
    ]);
  });

  test('a server that the person turned off here stays off, whatever scope it is of', async () => {
    put('config/mcp.json', server('u', ['a', 'b']));
    put(local(), { project, disabled: ['a', 7, 'none'] });
    const loaded = await load();
    expect(keys(loaded.servers)).toEqual(['b']);
    expect(loaded.notStarted).toMatchObject([{ key: 'a', reasons: [{ code: 'disabled' }] }]);
    expect(loaded.warnings).toEqual([]);
  });

  test('a secret that is too short to be hidden is said as the servers are read, without it', async () => {
    put('config/mcp.json', {
      mcpServers: {
        a: { command: 'a', env: { API_TOKEN: 'qzx', MODE: 'x' } },
        b: { type: 'http', url: 'https://b.test/mcp', headers: { Authorization: 'Bearer jvw' } },
      },
    });
    const { warnings } = await load();
    expect(warnings.map(({ code }) => code)).toEqual(['secret_too_short', 'secret_too_short']);
    expect(warnings[0]?.text).toContain('the variable API_TOKEN is too short');
    expect(warnings[1]?.text).toContain('the header Authorization is too short');
    expect(JSON.stringify(warnings)).not.toMatch(/qzx|jvw/);
  });

  test('a plugin finds its own folder', async () => {
    put('plug/mcp.json', server(`\${CLAUDE_PLUGIN_ROOT}/bin/s`));
    const { servers } = await load({ plugins: [{ name: 'p', file: join(base, 'plug', 'mcp.json') }] });
    expect(servers.map(commandOf)).toEqual([join(base, 'plug', 'bin', 's')]);
  });
});

describe('files that a command names', () => {
  const SCRIPT = { mcpServers: { s: { command: 'node', args: ['server.js'] } } };

  test('are part of what is trusted: one that changes is asked about again, by its name', async () => {
    put('project/.mcp.json', SCRIPT);
    put('project/server.js', 'one');
    const first = answering(true);
    await load({ askTrust: first.ask });
    expect(first.asked[0] && trustText(first.asked[0])).toContain(
      'file server.js of this folder, which the command of s runs or reads',
    );
    expect(await load()).toMatchObject({ trusted: true });
    put('project/server.js', 'two');
    await expect(load()).rejects.toMatchObject({ code: 'project_not_trusted' });
    const again = answering(true);
    await load({ askTrust: again.ask });
    const text = again.asked[0] ? trustText(again.asked[0]) : '';
    expect(text).toContain('CHANGED: file server.js');
    expect(text).toContain('as before: server s runs:');
    expect(await load()).toMatchObject({ trusted: true });
  });

  test('count also when they appear later', async () => {
    put('project/.mcp.json', SCRIPT);
    await load({ askTrust: answering(true).ask });
    put('project/server.js', 'one');
    await expect(load()).rejects.toMatchObject({ code: 'project_not_trusted' });
  });

  test("are asked about for the person's own servers too, as those run in every folder, but not for local ones", async () => {
    put('config/mcp.json', { mcpServers: { mine: { command: 'node', args: ['server.js'] }, other: { command: 'x' } } });
    expect(keys((await load()).servers)).toEqual(['mine', 'other']);
    put('project/server.js', 'one');
    await expect(load()).rejects.toMatchObject({ code: 'project_not_trusted' });
    const left = await load({ untrusted: 'leave' });
    expect(keys(left.servers)).toEqual(['other']);
    expect(left.listed[0]).toMatchObject({ key: 'mine', scope: 'user', state: 'untrusted' });
    expect(left.listed[0]?.reasons[0]?.text).toContain('server.js');
    expect(keys((await load({ askTrust: answering(true).ask })).servers)).toEqual(['mine', 'other']);
    expect(keys((await load()).servers)).toEqual(['mine', 'other']);
    rmSync(join(base, 'config', 'mcp.json'));
    rmSync(join(base, 'state'), { recursive: true });
    const { local } = serverPlaces(project, { env: {}, configDir: join(base, 'config') });
    put(local.slice(base.length + 1), SCRIPT);
    expect(keys((await load()).servers)).toEqual(['s']);
  });
});
