import { expect, test } from 'vitest';
import { allowAll, type ViewOptions, view } from '../policy/index.ts';
import { defineTool, functionSource } from '../tools/index.ts';
import { createCatalog } from './catalog.ts';

const WHO = { agent: 'main', via: 'library' } as const;

async function explained(description: string, more: Partial<ViewOptions> = {}) {
  const input = { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] } as const;
  const fetch = defineTool({ name: 'fetch', description, input }, ({ url }) => url);
  const views = [view({ name: 'load', tool: 'fetch', arguments: { url: { enum: ['a'] } }, ...more })];
  const catalog = createCatalog({ sources: [functionSource([fetch])], policy: allowAll(), views });
  await catalog.refresh();
  const texts = catalog.explain('load', WHO).map(({ text }) => text);
  return { names: catalog.list(WHO).map(({ ref }) => ref.name), text: texts.join('\n') };
}

test('of a view it is said what it takes away, and what holds it to the tool as it is', async () => {
  const { text } = await explained('Fetches.');
  expect(text).toContain('url: one of "a"');
  const [, upstream = ''] = /"upstream": "([0-9a-f]{64})"/.exec(text) ?? [];
  expect((await explained('Fetches.', { upstream })).names).toEqual(['load']);
  expect((await explained('Fetches, and tells.', { upstream })).names).toEqual([]);
});
