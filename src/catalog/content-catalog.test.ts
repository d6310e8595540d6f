import { expect, test } from 'vitest';
import { contentSource, definePrompt, defineResource, defineResourceTemplate } from '../content/index.ts';
import type { CallContext, ContentListing, ContentSource, Identity } from '../contracts/index.ts';
import { createContentCatalog } from './content-catalog.ts';
import { contentHost } from './content-host.ts';
import { server, WHO } from './fixtures.ts';

const SIGNAL = new AbortController().signal;
const OTHER: Identity = { agent: 'other', via: 'library' };
const LONG = 600_000;
const ctx = (who = WHO): CallContext => ({ callId: 'c', who, signal: SIGNAL, idleMs: 1000, hardMs: 1000 });

/** Resources of these addresses, and a family `KEY://{id}` of these ids. */
function source(key: string | null, uris: readonly string[], ids: readonly string[] = []) {
  const list = uris.map((uri) =>
    defineResource({ uri, name: uri.split('/').at(-1) ?? '', read: () => `${key} ${uri}` }),
  );
  const own = contentSource({
    server: key === null ? null : server(key),
    resources: () => list,
    templates: [
      defineResourceTemplate({
        uriTemplate: `${key}://{id}`,
        name: 'family',
        complete: { id: (value) => ids.filter((id) => id.startsWith(value)) },
        read: ({ id }) => `${key} of ${id}`,
      }),
    ],
    prompts: [definePrompt({ name: 'format', messages: () => `format of ${key}` })],
  });
  const add = (uri: string) => list.push(defineResource({ uri, name: uri, read: () => uri }));
  return { own, add };
}

async function catalogOf(...sources: ContentSource[]) {
  const catalog = createContentCatalog({ sources, settleMs: LONG });
  await catalog.refresh();
  return catalog;
}

const broken = (key: string): ContentSource => ({
  ...contentSource({ server: server(key) }),
  list: () => Promise.reject(new Error('it is down')),
});

test('sources keep their order, and one that fails costs the others nothing', async () => {
  const catalog = await catalogOf(source('b', ['b:1']).own, broken('down'), source('a', ['a:1']).own);
  expect(catalog.list(WHO).resources.map(({ uri }) => uri)).toEqual(['b:1', 'a:1']);
  expect(catalog.sources().map(({ server, state }) => [server?.key, state])).toEqual([
    ['b', 'ready'],
    ['down', 'failed'],
    ['a', 'ready'],
  ]);
  expect(catalog.sources()[1]?.reason?.text).toContain('it is down');
});

test('a source is unlisted until it was listed, and keeps what it had when that fails later', async () => {
  let answer: () => Promise<ContentListing> = async () => ({
    resources: [],
    templates: [],
    prompts: (await source('x', []).own.list(SIGNAL)).prompts,
    setAside: [],
  });
  const catalog = createContentCatalog({ sources: [{ ...broken('x'), list: () => answer() }] });
  expect(catalog.sources()[0]?.state).toBe('unlisted');
  await catalog.refresh();
  answer = () => Promise.reject(new Error('gone'));
  await catalog.refresh();
  expect(catalog.sources()[0]).toMatchObject({ state: 'failed', prompts: 1 });
});

test('a listing that never comes is given up', async () => {
  const stuck: ContentSource = { ...broken('stuck'), list: () => new Promise(() => {}) };
  const catalog = createContentCatalog({ sources: [stuck, source('a', ['a:1']).own], listMs: 20 });
  await catalog.refresh();
  expect(catalog.sources().map(({ state }) => state)).toEqual(['failed', 'ready']);
});

test('a resource is found by server and address: listed, by a template, or at a server that may know it', async () => {
  const foreign: ContentSource = { ...broken('far'), list: source('far', ['far:1']).own.list };
  delete (foreign as { visible?: unknown }).visible;
  const catalog = await catalogOf(source('a', ['a:1']).own, foreign);
  expect(catalog.resource('a', 'a:1', WHO)?.resource?.uri).toBe('a:1');
  expect(catalog.resource('a', 'a://x', WHO)?.template?.uriTemplate).toBe('a://{id}');
  expect(catalog.resource('a', 'other:1', WHO)).toBeUndefined();
  expect(catalog.resource('far', 'other:1', WHO)?.uri).toBe('other:1');
  expect(catalog.resource('none', 'a:1', WHO)).toBeUndefined();
});

test('a word is resolved where exactly one thing has it, by the surest way', async () => {
  const catalog = await catalogOf(
    source('a', ['a:docs/plan.md', 'a:docs/both'], ['report', 'two']).own,
    source('b', ['b:docs/both', 'b:plan.md/x'], ['two', 'b:docs/both']).own,
  );
  const resolve = (word: string) => catalog.resolve(word, WHO, SIGNAL);
  const uriOf = async (word: string) => {
    const found = await resolve(word);
    return found.kind === 'found' ? found.found.uri : found.kind;
  };
  expect(await uriOf('a:docs/both')).toBe('a:docs/both');
  expect(await uriOf('plan.md')).toBe('a:docs/plan.md');
  expect(await uriOf('both')).toBe('ambiguous');
  expect(await uriOf('report')).toBe('a://report');
  expect(await uriOf('two')).toBe('ambiguous');
  expect(await uriOf('b://anything')).toBe('b://anything');
  expect(await uriOf('rep')).toBe('none');
  const both = await resolve('both');
  expect(both.kind === 'ambiguous' && both.candidates.map(({ source }) => source.server?.key)).toEqual(['a', 'b']);
});

test('a prompt is found by server and name, and by its name alone where one server has it', async () => {
  const one = await catalogOf(source('a', []).own);
  expect(one.resolvePrompt('format', WHO)).toMatchObject({ kind: 'found' });
  const two = await catalogOf(source('a', []).own, source('b', []).own);
  expect(two.resolvePrompt('format', WHO)).toMatchObject({ kind: 'ambiguous' });
  expect(two.resolvePrompt('other', WHO)).toEqual({ kind: 'none' });
  expect(two.prompt('b', 'format', WHO)?.source.server?.key).toBe('b');
});

test('a change is listed when it settles, and told', async () => {
  const { own, add } = source('a', ['a:1']);
  const catalog = await catalogOf(own);
  let told = 0;
  catalog.onChange(() => {
    told += 1;
  });
  add('a:2');
  own.changed();
  expect(catalog.list(WHO).resources).toHaveLength(1);
  await catalog.settle(LONG);
  expect(catalog.list(WHO).resources).toHaveLength(2);
  expect(told).toBe(1);
  catalog.close();
  own.changed();
  await catalog.settle(LONG);
  expect(told).toBe(1);
});

test('one listed twice is set aside', async () => {
  const { own } = source('a', ['a:1']);
  const twice: ContentSource = {
    ...own,
    async list(signal) {
      const listing = await own.list(signal);
      return { ...listing, resources: [...listing.resources, ...listing.resources] };
    },
  };
  const catalog = await catalogOf(twice);
  expect(catalog.list(WHO).resources).toHaveLength(1);
  expect(catalog.list(WHO).setAside).toMatchObject([{ kind: 'resource', item: 'a:1' }]);
});

test('what is served: addresses as they are, prompts of servers under their wire names', async () => {
  const host = contentHost(await catalogOf(source(null, ['own:1']).own, source('a', ['a:1', 'own:1']).own));
  const { resources, prompts } = host.list(WHO);
  expect(resources.map(({ uri, server }) => [uri, server?.key])).toEqual([
    ['own:1', undefined],
    ['a:1', 'a'],
  ]);
  expect(prompts.map(({ name }) => name)).toEqual(['format', 'mcp__a__format']);
  expect(JSON.stringify(await host.prompt('mcp__a__format', {}, ctx()))).toContain('format of a');
  expect(JSON.stringify(await host.read('own:1', ctx()))).toContain('null own:1');
  expect(JSON.stringify(await host.read('a://x', ctx()))).toContain('a of x');
  expect(await host.prompt('mcp__a__other', {}, ctx())).toMatchObject({ kind: 'failure' });
});

test('what an identity may not see is not there for it, in any way', async () => {
  const { own } = source('a', ['a:1', 'a:2'], ['x']);
  const host = contentHost(await catalogOf(own), { visible: (_item, { agent }) => agent === WHO.agent });
  const template = { type: 'resource', uriTemplate: 'a://{id}' } as const;
  expect(host.list(OTHER)).toMatchObject({ resources: [], templates: [], prompts: [] });
  expect(host.has('a:1', WHO)).toBe(true);
  expect(host.has('a:1', OTHER)).toBe(false);
  const hidden = await host.read('a:1', ctx(OTHER));
  const absent = await host.read('a:3', ctx(OTHER));
  expect(JSON.stringify(hidden).replaceAll('a:1', 'a:3')).toBe(JSON.stringify(absent));
  expect((await host.complete(template, { name: 'id', value: '' }, {}, WHO, SIGNAL)).values).toEqual(['x']);
  expect((await host.complete(template, { name: 'id', value: '' }, {}, OTHER, SIGNAL)).values).toEqual([]);
  const told: string[] = [];
  host.subscribe('a:1', WHO, () => told.push('who'));
  host.subscribe('a:1', OTHER, () => told.push('other'));
  own.updated('a:1');
  expect(told).toEqual(['who']);
});
