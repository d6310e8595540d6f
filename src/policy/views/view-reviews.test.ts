import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Store, ToolDefinition } from '../../contracts/index.ts';
import { memoryStore, openStore } from '../../store/index.ts';
import { rawFrom } from '../../tools/index.ts';
import { ADA, fetchTool } from './fixtures.ts';
import { parseView } from './parse-view.ts';
import { type View, view } from './view.ts';
import { reviewOf } from './view-pins.ts';
import { viewReviews } from './view-reviews.ts';
import { createViewSet } from './view-set.ts';

const LOAD = view({ name: 'load', server: 'web', tool: 'fetch', arguments: { follow: { fixed: false } } });

/** The tool behind with a description of its own. */
function fetching(description: string): ToolDefinition {
  return { ...fetchTool(), raw: rawFrom({ name: 'fetch', description }) };
}
const FIRST = fetching('Fetches.');
const SECOND = fetching('Fetches, and tells.');
const THIRD = fetching('Fetches, tells and forgets.');

/** No two moments are the same. */
let moment = 0;

/** A process that uses the views of a place. */
async function process(store: Store, views: readonly View[] = [LOAD], more: { readonly record?: boolean } = {}) {
  const reviews = await viewReviews({ store, place: '/project', now: () => ++moment, ...more });
  const set = createViewSet(views, { pins: reviews });
  const list = (of: ToolDefinition) => set.apply('web', { tools: [of], setAside: [] });
  return { reviews, list, names: (of: ToolDefinition) => list(of).tools.map(({ ref }) => ref.tool) };
}

test('what was met first counts in the next process, and an acceptance until the tool changes again', async () => {
  const store = memoryStore();
  const first = await process(store);
  expect(first.names(FIRST)).toEqual(['load']);
  await first.reviews.settled();
  const next = await process(store);
  expect(next.names(SECOND)).toEqual([]);
  await next.reviews.accept(LOAD, SECOND, { by: 'ada' });
  const last = await process(store);
  expect(last.names(SECOND)).toEqual(['load']);
  expect(last.names(THIRD)).toEqual([]);
  // Nor is what was agreed to before all right again.
  expect(last.names(FIRST)).toEqual([]);
});

test('two processes over one file hold to what one of them accepts, also for calls of what is listed already', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'bridle-view-reviews-'));
  const stores = [await openStore({ file: join(dir, 's.db') }), await openStore({ file: join(dir, 's.db') })] as const;
  try {
    const one = await process(stores[0]);
    const [tool] = one.list(FIRST).tools;
    await one.reviews.settled();
    const other = await process(stores[1]);
    expect(await tool?.narrows?.arguments({ url: 'x' }, ADA)).toHaveProperty('args');
    await other.reviews.accept(LOAD, SECOND, { by: 'ada' });
    await vi.waitFor(() => expect(one.names(SECOND)).toEqual(['load']), { timeout: 60_000, interval: 20 });
    expect(await tool?.narrows?.arguments({ url: 'x' }, ADA)).toHaveProperty('issues');
    for (const { reviews } of [one, other]) reviews.close();
  } finally {
    for (const store of stores) await store.close();
    await rm(dir, { recursive: true, force: true });
  }
});

test('of two processes that meet different definitions one counts, and the call of the other is refused', async () => {
  const store = memoryStore();
  const [one, other] = [await process(store), await process(store)];
  const tools = [one.list(FIRST).tools[0], other.list(SECOND).tools[0]];
  const said = await Promise.all(tools.map((tool) => tool?.narrows?.arguments({ url: 'x' }, ADA)));
  expect(said.filter((each) => each && 'args' in each)).toHaveLength(1);
});

test('where what was met can not be kept, no call passes', async () => {
  const store = memoryStore();
  const broken: Store = {
    ...store,
    table: (name, versions) => ({
      ...store.table(name, versions),
      put: () => Promise.reject(new Error('no space left')),
    }),
  };
  const [tool] = (await process(broken)).list(FIRST).tools;
  expect(await tool?.narrows?.arguments({ url: 'x' }, ADA)).toMatchObject({ issues: [{ message: /kept/ }] });
});

test('looking keeps nothing', async () => {
  const store = memoryStore();
  const looking = await process(store, [LOAD], { record: false });
  expect([looking.names(FIRST), looking.names(SECOND)]).toEqual([['load'], []]);
  expect(looking.reviews.list()).toEqual([]);
  expect((await process(store)).names(SECOND)).toEqual(['load']);
});

test('a view under a new name is held to what was reviewed of the tool under another one', async () => {
  const store = memoryStore();
  const before = await process(store);
  before.list(FIRST);
  await before.reviews.settled();
  const renamed = view({ name: 'other', server: 'web', tool: 'fetch' });
  const after = await process(store, [renamed]);
  expect(after.names(SECOND)).toEqual([]);
  expect(after.names(FIRST)).toEqual(['other']);
  // From then on it has a review of its own.
  await after.reviews.accept(LOAD, SECOND, { by: 'ada' });
  expect([after.names(FIRST), after.names(SECOND)]).toEqual([['other'], []]);
});

test('nor is a view that was held back free under a new name because another view of the tool was accepted', async () => {
  const store = memoryStore();
  const wide = view({ name: 'wide', server: 'web', tool: 'fetch', description: 'Fetches.' });
  const first = await process(store, [LOAD, wide]);
  expect(first.names(FIRST)).toEqual(['load', 'wide']);
  await first.reviews.settled();
  await first.reviews.accept(LOAD, SECOND, { by: 'ada' });
  const renamed = view({ name: 'wide2', server: 'web', tool: 'fetch', description: 'Fetches.' });
  expect((await process(store, [LOAD, renamed])).names(SECOND)).toEqual(['load']);
});

test('nor where the oldest of several reviews happens to be of what its server says now', async () => {
  const store = memoryStore();
  const wide = view({ name: 'wide', server: 'web', tool: 'fetch', description: 'Fetches.' });
  const first = await process(store, [wide]);
  expect(first.names(FIRST)).toEqual(['wide']);
  await first.reviews.settled();
  await first.reviews.accept(LOAD, SECOND, { by: 'ada' });
  // The server went back to what somebody has agreed to replace.
  const other = view({ name: 'other', server: 'web', tool: 'fetch' });
  const next = await process(store, [wide, LOAD, other]);
  expect([next.names(FIRST), next.names(SECOND), next.names(THIRD)]).toEqual([['wide'], ['load'], []]);
  expect(next.reviews.of(other)).toHaveLength(2);
  await next.reviews.accept(other, SECOND, { by: 'ada' });
  expect([next.names(FIRST), next.names(SECOND)]).toEqual([['wide'], ['load', 'other']]);
});

test("upstream is the person's word in their own file, and stands beside theirs in a project's", async () => {
  const named = (of: ToolDefinition, fromProject: boolean) =>
    parseView('load', { server: 'web', tool: 'fetch', upstream: reviewOf(of).fingerprint }, { fromProject });
  for (const fromProject of [false, true]) {
    const store = memoryStore();
    const before = await process(store);
    before.list(FIRST);
    await before.reviews.settled();
    const after = await process(store, [named(SECOND, fromProject)]);
    expect(after.names(SECOND)).toEqual(fromProject ? [] : ['load']);
    expect(after.names(FIRST)).toEqual([]);
  }
});
