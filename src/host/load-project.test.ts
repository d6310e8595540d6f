import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compilePolicy } from '../policy/index.ts';
import type { TrustRequest } from './describe-trust.ts';
import { type LoadProjectOptions, loadProject } from './load-project.ts';
import { previewsFor } from './previews.ts';
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

const SERVER = { mcpServers: { fs: { command: 'npx', args: ['-y', 'server', '/tmp'], env: { T: `\${TOKEN}` } } } };
const RULES = {
  permissions: { allow: ['mcp__fs__read'], ask: ['mcp__fs__move'], deny: ['mcp__fs__write'] },
  previews: { mcp__fs__move: { tool: 'stat', arguments: { path: '/from' } } },
};

describe('without files', () => {
  test('a folder without configuration is a project with nothing in it', async () => {
    expect(await load()).toMatchObject({ root: project, servers: [], layers: [], warnings: [], trusted: true });
  });

  test('a folder that is not there is named', async () => {
    await expect(load({ cwd: join(base, 'none') })).rejects.toMatchObject({ code: 'config_no_folder' });
  });
});

describe('trust', () => {
  test('without a terminal and an approval nothing is loaded, and the error shows each command and what to do', async () => {
    put('project/.mcp.json', SERVER);
    const error = await load().catch((reason) => reason);
    expect(error).toMatchObject({ code: 'project_not_trusted', hint: expect.stringContaining('--trust-project') });
    expect(error.message).toContain('npx -y server /tmp');
    expect(error.message).toContain('takes from your environment: TOKEN');
    expect(error.message).toContain('whatever version of server is newest');
    expect(error.message).not.toContain('secret-value');
  });

  test('an untrusted project starts and loosens nothing, while its deny and ask rules hold', async () => {
    put('project/.mcp.json', SERVER);
    put('project/bridle.json', { ...RULES, mode: 'bypassPermissions' });
    const loaded = await load({ untrusted: 'leave' });
    expect(loaded).toMatchObject({ trusted: false, servers: [], previews: [] });
    expect(loaded.mode).toBeUndefined();
    expect(loaded.notStarted).toMatchObject([{ key: 'fs', reasons: [{ code: 'project_not_trusted' }] }]);
    expect(loaded.layers).toMatchObject([{ scope: 'project', trusted: false }]);
    const { problems } = compilePolicy(loaded.layers);
    expect(problems.map(({ code }) => code)).toEqual(['allow_untrusted']);
  });

  test('a flag trusts for this run only', async () => {
    put('project/.mcp.json', SERVER);
    expect(keys((await load({ trustProject: true })).servers)).toEqual(['fs']);
    await expect(load()).rejects.toMatchObject({ code: 'project_not_trusted' });
  });

  test('a yes is remembered until a file changes; a no is not', async () => {
    put('project/.mcp.json', SERVER);
    put('project/bridle.json', RULES);
    expect(await load({ askTrust: answering(false).ask })).toMatchObject({ trusted: false, servers: [] });
    const yes = answering(true);
    const loaded = await load({ askTrust: yes.ask });
    expect(yes.asked).toHaveLength(1);
    expect(keys(loaded.servers)).toEqual(['fs']);
    expect(loaded.servers[0]).toMatchObject({ kind: 'stdio', env: { T: 'secret-value' } });
    expect(previewsFor(loaded.previews, 'fs').get('move')).toEqual({
      kind: 'tool',
      tool: 'stat',
      arguments: { path: '/from' },
      by: 'config',
    });
    expect(await load()).toMatchObject({ trusted: true });

    put('project/.mcp.json', { mcpServers: { fs: { command: 'npx', args: ['-y', 'evil'] }, two: { command: 'x' } } });
    await expect(load()).rejects.toMatchObject({ code: 'project_not_trusted' });
    const again = answering(true);
    await load({ askTrust: again.ask });
    const [request] = again.asked;
    expect(request?.items.map(({ name, state }) => [name, state])).toEqual([
      ['server fs', 'changed'],
      ['server two', 'new'],
      ['allow mcp__fs__read', 'same'],
      ['preview mcp__fs__move', 'same'],
    ]);
    const text = request ? trustText(request) : '';
    expect(text).toContain('have changed since you trusted them');
    expect(text).toContain('CHANGED: server fs runs:');
  });

  test.each([
    ['a comment', (text: string) => `${text} // x`],
    ['a lost deny', (text: string) => text.replace('mcp__fs__write', 'mcp__fs__other')],
  ])('%s in a file asks again and says that the rest is as before', async (_what, change) => {
    put('project/bridle.json', RULES);
    await load({ askTrust: answering(true).ask });
    put('project/bridle.json', change(JSON.stringify(RULES)));
    const again = answering(true);
    await load({ askTrust: again.ask });
    expect(again.asked).toHaveLength(1);
    expect(again.asked[0] && trustText(again.asked[0])).toContain('something else in the files has changed');
  });

  test('a file with rules that is gone asks again, as its denies are gone too', async () => {
    put('project/.mcp.json', SERVER);
    put('project/bridle.json', { permissions: { deny: ['mcp__fs__write'] } });
    await load({ askTrust: answering(true).ask });
    rmSync(join(project, 'bridle.json'));
    await expect(load()).rejects.toMatchObject({ code: 'project_not_trusted' });
  });

  test('what only tightens needs no trust', async () => {
    put('project/bridle.json', { permissions: { deny: ['mcp__fs__write'], ask: ['mcp__fs'] } });
    expect(await load()).toMatchObject({ trusted: true, layers: [{ scope: 'project' }] });
  });

  test('a symbolic link to a project is that project, and a link to another does not inherit its trust', async () => {
    put('project/.mcp.json', SERVER);
    put('other/.mcp.json', SERVER);
    symlinkSync(project, join(base, 'link'));
    await load({ cwd: join(base, 'link'), askTrust: answering(true).ask });
    expect(await load()).toMatchObject({ trusted: true, root: project });
    rmSync(join(base, 'link'));
    symlinkSync(join(base, 'other'), join(base, 'link'));
    await expect(load({ cwd: join(base, 'link') })).rejects.toMatchObject({ code: 'project_not_trusted' });
  });

  test('values that decide which code is loaded are shown, other values are not', async () => {
    const env = { NODE_OPTIONS: '--require ./evil.js', API_KEY: 'literal-secret' };
    put('project/.mcp.json', { mcpServers: { a: { command: 'node', args: ['a\u202eb', "it's"], env, trust: true } } });
    const { trust } = await load({ untrusted: 'leave' });
    const text = trustText(trust);
    expect(text).toContain("NODE_OPTIONS='--require ./evil.js', API_KEY");
    expect(text).not.toContain('literal-secret');
    expect(text).toContain("node $'a\\u202eb' 'it'\\''s'");
    expect(text).toContain('taken at its word');
  });
});

test('a variable that can bring in code is shown with its value, and a secret of the same family is not', async () => {
  const loading = [
    'HOME',
    'ZDOTDIR',
    'NODE_EXTRA_CA_CERTS',
    'OPENSSL_CONF',
    'TS_NODE_REQUIRE',
    'GIT_ASKPASS',
    'CLASSPATH',
  ];
  const secret = ['NODE_AUTH_TOKEN', 'npm_config_password', 'UV_PUBLISH_TOKEN', 'GO_API_KEY'];
  const env = Object.fromEntries([...loading, ...secret].map((name) => [name, `./of-${name}`]));
  put('project/.mcp.json', { mcpServers: { a: { command: 'node', env } } });
  const text = trustText((await load({ untrusted: 'leave' })).trust);
  for (const name of loading) expect(text).toContain(`${name}=./of-${name}`);
  for (const name of secret) expect(text).not.toContain(`./of-${name}`);
});

test('what is agreed to is counted below it, however long it is', async () => {
  const servers = Object.fromEntries(Array.from({ length: 40 }, (_, nth) => [`s${nth}`, { command: 'node' }]));
  put('project/.mcp.json', { mcpServers: servers });
  put('project/bridle.json', { permissions: { allow: ['mcp__s1__a', 'mcp__s1__b'] } });
  const text = trustText((await load({ untrusted: 'leave' })).trust);
  expect(text.trimEnd().split('\n').at(-1)).toBe('In all: 40 servers, 2 allow rules.');
});

describe('the project folder', () => {
  test('is the nearest one upwards with a mark, and its servers run there', async () => {
    put('project/.mcp.json', SERVER);
    const loaded = await load({ cwd: join(project, 'sub', 'deep'), trustProject: true });
    expect(loaded.root).toBe(project);
    expect(loaded.servers[0]).toMatchObject({ cwd: project });
    mkdirSync(join(project, 'sub', '.git'));
    expect((await load({ cwd: join(project, 'sub', 'deep') })).root).toBe(join(project, 'sub'));
  });

  test('an entry whose folder is missing is not started, alone', async () => {
    put('project/.mcp.json', { mcpServers: { a: { command: 'x', cwd: 'none' }, b: { command: 'x', cwd: 'sub' } } });
    const loaded = await load({ trustProject: true });
    expect(loaded.notStarted).toMatchObject([{ key: 'a', reasons: [{ code: 'cwd_missing' }] }]);
    expect(loaded.servers[0]).toMatchObject({ cwd: join(project, 'sub') });
  });
});

describe('files named on the command line', () => {
  test('are trusted, go before the project, and the last one named goes first', async () => {
    put('one.json', { mcpServers: { fs: { command: 'one' }, a: { command: 'one' } } });
    put('two.json', { mcpServers: { a: { command: 'two' } } });
    put('project/.mcp.json', SERVER);
    const loaded = await load({ mcpConfigFiles: ['../one.json', join(base, 'two.json')], untrusted: 'leave' });
    expect(loaded.servers).toMatchObject([
      { key: 'a', command: 'two', scope: 'local' },
      { key: 'fs', command: 'one', scope: 'local' },
    ]);
    expect(loaded.servers).toHaveLength(2);
    expect(loaded.warnings.map(({ code }) => code)).toEqual(['server_shadowed', 'server_shadowed']);
  });

  test('one that is missing or no JSON is an error', async () => {
    await expect(load({ mcpConfigFiles: ['none.json'] })).rejects.toMatchObject({ code: 'config_missing' });
    put('bad.json', '{');
    await expect(load({ mcpConfigFiles: [join(base, 'bad.json')] })).rejects.toMatchObject({ code: 'config_not_json' });
  });
});

describe("the user's own file", () => {
  test('gives rules, previews and the mode; a flag beats the mode; a project cannot', async () => {
    put('config/bridle.json', { mode: 'plan', permissions: { allow: ['x'] }, previews: RULES.previews });
    put('project/bridle.json', { mode: 'bypassPermissions', previews: { mcp__fs__move: { tool: 'theirs' } } });
    const loaded = await load({ trustProject: true, allow: ['mcp__fs__*'] });
    expect(loaded.mode).toBe('plan');
    expect(loaded.layers.map(({ scope, trusted }) => [scope, trusted])).toEqual([
      ['user', true],
      ['project', true],
      ['session', true],
    ]);
    expect(loaded.previews).toMatchObject([{ plan: { tool: 'stat' } }]);
    expect(loaded.warnings.map(({ code }) => code)).toEqual(['mode_in_project']);
    expect((await load({ trustProject: true, mode: 'dontAsk' })).mode).toBe('dontAsk');
  });

  test('one that cannot be read stops everything, as its denies would be lost', async () => {
    put('config/bridle.json', '{"permissions": {"deny": ["x"]');
    await expect(load()).rejects.toMatchObject({ code: 'config_not_json' });
  });
});

describe('a server over the network', () => {
  const shop = {
    url: `https://api.shop.example/\${ORG:-main}/mcp`,
    headers: { Authorization: `Bearer \${TOKEN}`, 'X-Team': 'literal-value', 'X-Model': `\${OPENAI_API_KEY}` },
    idleMs: 1000,
  };

  test('is ready for its client once its project is trusted, and not before', async () => {
    put('project/.mcp.json', { mcpServers: { shop } });
    const left = await load({ untrusted: 'leave' });
    expect(left.servers).toEqual([]);
    expect(JSON.stringify(left)).not.toContain('secret-value');
    const loaded = await load({ trustProject: true, env: { TOKEN: 'secret-value\n', OPENAI_API_KEY: 'model-key' } });
    expect(loaded.servers).toMatchObject([
      { kind: 'http', scope: 'project', url: 'https://api.shop.example/main/mcp', era: 'auto', idleMs: 1000 },
    ]);
    const [server] = loaded.servers;
    expect(server?.kind === 'http' ? { ...server.headers } : {}).toEqual({
      Authorization: 'Bearer secret-value',
      'X-Team': 'literal-value',
      // A model's key goes to no server by its URL or headers.
      'X-Model': `\${OPENAI_API_KEY}`,
    });
    expect(loaded.warnings.map(({ code }) => code)).toEqual(['model_key']);
  });

  test('is shown with its address, and with which variable goes to which host, without any value', async () => {
    put('project/.mcp.json', { mcpServers: { shop, old: { type: 'sse', url: `http://\${HOST}:8080/sse` } } });
    const text = trustText((await load({ untrusted: 'leave' })).trust);
    expect(text).toContain(`server shop is reached at:\n    https://api.shop.example/\${ORG:-main}/mcp`);
    expect(text).toContain('sends it the headers Authorization, X-Team, X-Model');
    expect(text).toContain('takes from your environment and sends to api.shop.example: ORG, TOKEN, OPENAI_API_KEY');
    expect(text).toContain('server old is reached at (over the old HTTP+SSE transport):');
    expect(text).toContain(`sends to \${HOST}:8080: HOST`);
    expect(text).toContain('by http: what goes there can be read on the way');
    expect(text).not.toContain('literal-value');
    expect(text).not.toContain('secret-value');
  });

  test('by http is warned about, unless it is on this machine', async () => {
    const at = (url: string) => ({ type: 'http', url });
    put('project/.mcp.json', {
      mcpServers: {
        far: at('http://192.168.0.9/mcp'),
        near: at('http://127.0.0.1:3000/mcp'),
        same: at('http://localhost:3000/mcp'),
        six: at('http://[::1]:3000/mcp'),
        safe: at('https://x.example/mcp'),
        // Spelled like this machine, and another.
        fake: at('http://localhost.example/mcp'),
      },
    });
    const { warnings, servers } = await load({ trustProject: true });
    expect(keys(servers)).toHaveLength(6);
    expect(warnings.map(({ code, text }) => [code, text.split('"')[1]])).toEqual([
      ['open_http', 'far'],
      ['open_http', 'fake'],
    ]);
  });
});
