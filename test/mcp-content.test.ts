import type { ContentSource, SourceResult } from 'bridle';
import { connectHttp, connectStdio, mcpContent, mcpSource } from 'bridle/mcp';
import { afterEach, describe, expect, test } from 'vitest';
import { createContentCatalog } from '../src/catalog/index.ts';
import { CONTENT_SERVER, documents } from './helpers/content-server.ts';
import { entry, everything } from './helpers/http-servers.ts';
import { context, eventually, never, node, published, temporaryFolder } from './helpers/mcp.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
const kept = <T extends { close(): Promise<unknown> }>(one: T): T => {
  open.push(one);
  return one;
};

const parsed = (result: SourceResult) => (result.kind === 'result' ? result.raw.parse() : result);

async function reads(source: ContentSource) {
  const { resources, templates, prompts, setAside } = await source.list(never());
  expect(setAside).toEqual([]);
  expect(resources.map(({ uri }) => uri)).toEqual(['docs://plan']);
  expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual(['docs://documents/{id}']);
  expect(prompts.map(({ name }) => name)).toEqual(['format']);
  expect(parsed(await source.read('docs://plan', context()))).toMatchObject({ contents: [{ text: '# Plan 0' }] });
  expect(parsed(await source.prompt('format', { id: 'x' }, context()))).toMatchObject({
    messages: [{ content: { text: 'Format x.' } }],
  });
  const template = { type: 'resource', uriTemplate: 'docs://documents/{id}' } as const;
  const completed = await source.complete(template, { name: 'id', value: 'ru' }, {}, never());
  expect(completed.values).toEqual(['rules.txt']);
  for (const failed of [await source.read('docs://absent', context()), await source.prompt('absent', {}, context())])
    expect(failed).toMatchObject({ kind: 'failure', failure: { category: 'validation' } });
}

describe.each(['legacy', 'modern'] as const)('content of a server of the %s era', (era) => {
  test('is listed, read, asked for and completed over HTTP, and tells of its changes', async () => {
    const server = kept(await documents());
    const source = mcpContent(kept(connectHttp(entry(server.url, { era }))));
    await reads(source);
    const told: string[] = [];
    const stop = source.subscribe('docs://plan', () => told.push('plan'));
    source.onChange(() => told.push('lists'));
    // The subscription is on its way while this goes on: each edit is another chance to be told.
    expect(
      await eventually(() => {
        server.edit();
        return told.includes('plan');
      }),
    ).toBe(true);
    server.grow();
    expect(await eventually(() => told.includes('lists'))).toBe(true);
    expect((await source.list(never())).resources.map(({ uri }) => uri)).toEqual(['docs://plan', 'docs://new']);
    stop();
  });

  test('is read over stdio, and a subscription outlives the process', async () => {
    const connection = kept(connectStdio(node('docs', [CONTENT_SERVER], { era })));
    const source = mcpContent(connection);
    const tools = mcpSource(connection);
    await reads(source);
    let told = 0;
    source.subscribe('docs://plan', () => {
      told += 1;
    });
    // The subscription is on its way while this goes on: each edit is another chance to be told.
    const edited = async () => {
      const before = told;
      for (const until = Date.now() + 90_000; told === before && Date.now() < until; )
        await tools.call('edit', {}, context());
      return eventually(() => told > before);
    };
    expect(await edited()).toBe(true);
    const first = connection.pid;
    if (first !== undefined) process.kill(first, 'SIGKILL');
    expect(await eventually(() => connection.pid === undefined)).toBe(true);
    const before = told;
    await source.read('docs://plan', context());
    expect(connection.pid).not.toBe(first);
    // Nobody told what the new process has of it: that counts as a change.
    expect(await eventually(() => told > before)).toBe(true);
    expect(await edited()).toBe(true);
  });
});

test.each(['stdio', 'streamableHttp'] as const)(
  'the published everything server over %s has resources, templates, prompts and completion',
  async (over) => {
    const key = 'everything';
    const connection =
      over === 'stdio'
        ? connectStdio(node(key, [published('server-everything'), 'stdio']))
        : connectHttp(entry(kept(await everything(over)).url, { key }));
    const source = mcpContent(kept(connection));
    const catalog = createContentCatalog({ sources: [source] });
    await catalog.refresh();
    const [status] = catalog.sources();
    expect(status).toMatchObject({ state: 'ready', server: { key: 'everything' } });
    expect([status?.resources, status?.templates, status?.prompts].every((count) => (count ?? 0) > 0)).toBe(true);
    const { who } = context();
    const { resources, prompts } = catalog.list(who);
    const uri = resources[0]?.uri ?? '';
    const found = catalog.resource('everything', uri, who);
    expect(await found?.source.read(uri, context())).toMatchObject({ kind: 'result' });
    const simple = prompts.find((prompt) => prompt.arguments.length === 0);
    expect(await source.prompt(simple?.name ?? '', {}, context())).toMatchObject({ kind: 'result' });
    catalog.close();
  },
);

test('a server of tools alone is asked for nothing else', async () => {
  const files = [published('server-filesystem'), await temporaryFolder()];
  const connection = kept(connectStdio(node('files', files)));
  expect(await mcpContent(connection).list(never())).toMatchObject({ resources: [], templates: [], prompts: [] });
});
