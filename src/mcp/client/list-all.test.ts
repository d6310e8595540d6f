import { expect, test } from 'vitest';
import type { Connection, JsonObject } from '../../contracts/index.ts';
import { rawFrom } from '../../tools/index.ts';
import { listAll } from './list-all.ts';

/** A server that answers with the page of each cursor. */
function pages(page: (cursor: string | undefined) => JsonObject) {
  let asked = 0;
  const connection: Connection = {
    server: { key: 's', scope: 'code', fingerprint: 'f', trustAnnotations: false },
    era: null,
    async request(_, params) {
      asked += 1;
      return rawFrom(page((params as { cursor?: string }).cursor));
    },
    onNotification: () => () => {},
    status: () => ({ state: 'ready', reasons: [] }),
    close: async () => {},
  };
  const all = () =>
    listAll(connection, 'tools/list', 'tools', {
      signal: new AbortController().signal,
      idleMs: 1000,
      hardMs: Number.POSITIVE_INFINITY,
    });
  return { all, asked: () => asked };
}

test('an empty cursor is a cursor, and null is none', async () => {
  const { all } = pages((cursor) => ({ tools: [cursor ?? 'first'], nextCursor: cursor === undefined ? '' : null }));
  const { items, reasons } = await all();
  expect([items.map(({ text }) => text), reasons]).toEqual([['"first"', '""'], []]);
});

test('a server that always names the same next page is asked for it once', async () => {
  const { all, asked } = pages(() => ({ tools: [1], nextCursor: 'again' }));
  const { reasons } = await all();
  expect([asked(), reasons.map(({ code }) => code)]).toEqual([2, ['mcp_list_cut']]);
});

test('pages without end are cut when they are empty, when they are many, and when they are large', async () => {
  const next = (cursor: string | undefined) => ({ nextCursor: `${Number(cursor ?? 0) + 1}` });
  const empty = pages((cursor) => ({ tools: [], ...next(cursor) }));
  const large = pages((cursor) => ({ tools: ['x'.repeat(20 * 1024 * 1024)], ...next(cursor) }));
  expect((await empty.all()).reasons[0]?.text).toContain('1000 pages');
  expect(empty.asked()).toBe(1000);
  const { items, reasons } = await large.all();
  expect([items.length, large.asked()]).toEqual([4, 4]);
  expect(reasons[0]?.text).toContain('MB');
});
