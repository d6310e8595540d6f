import { defineTool, toolHost } from 'bridle';
import { serve } from 'bridle/server';
import { afterEach, expect, test } from 'vitest';
import { connect, KINDS } from './clients.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

test.each(KINDS)('a tool asks the person at a %s client in the middle of its call', async (kind) => {
  const book = defineTool(
    { name: 'book', description: 'Books seats.', input: { type: 'object', properties: {} } },
    async (_, { ask }) => {
      const name = await ask('In which name?', { type: 'object', properties: { name: { type: 'string' } } });
      const row = await ask('Which row?', { type: 'object', properties: { row: { type: 'string' } } });
      return name.action === 'accept' && row.action === 'accept'
        ? `for ${name.content.name}, ${row.content.row}`
        : 'no';
    },
  );
  const handle = await serve(await toolHost({ tools: [book] }), { http: { port: 0, token: false } });
  closing.push(() => handle.close());
  const answer = (message: string): Record<string, string> =>
    message.includes('name') ? { name: 'Ada' } : { row: 'B' };
  const client = await connect(kind, { url: handle.url ?? '' }, { answer });
  closing.push(() => client.close());
  expect((await client.call('book')).content).toEqual([{ type: 'text', text: 'for Ada, B' }]);
});
