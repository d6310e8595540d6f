import { afterEach, describe, expect, test } from 'vitest';
import { rawFrom } from '../../tools/index.ts';
import { type ResultCache, resultCache } from './result-cache.ts';

const open: ResultCache[] = [];
let now = 0;
function connected(headers: Record<string, string> = {}, url = 'https://a.example/mcp'): ResultCache {
  const cache = resultCache(
    url,
    () => headers,
    () => now,
  );
  open.push(cache);
  return cache;
}
afterEach(() => {
  for (const cache of open.splice(0)) cache.close();
  now = 0;
});

const list = (more: Record<string, string | number>) => rawFrom({ resultType: 'complete', tools: [], ...more });
const keep = (cache: ResultCache, more: Record<string, string | number>, method = 'tools/list', params = {}) =>
  cache.asking(method, params)(list(more));

test('an answer of before other headers were sent is not given to who sends them', () => {
  let headers = { authorization: 'a' };
  const cache = resultCache(
    'https://a.example/mcp',
    () => headers,
    () => now,
  );
  open.push(cache);
  keep(cache, { ttlMs: 1000, cacheScope: 'private' });
  headers = { authorization: 'b' };
  expect(cache.get('tools/list', {})).toBeUndefined();
});

describe('an answer', () => {
  test('is given again as long as its server said, and not longer', () => {
    const cache = connected();
    keep(cache, { ttlMs: 1000, cacheScope: 'private' });
    now = 999;
    expect(cache.get('tools/list', { _meta: { other: 1 } })?.text).toContain('"tools"');
    now = 1000;
    expect(cache.get('tools/list', {})).toBeUndefined();
  });

  test.each([
    ['nothing about it', {}],
    ['no time at all', { ttlMs: 0 }],
    ['a time that is none', { ttlMs: 'long' }],
    ['a time before now', { ttlMs: -1 }],
    ['that it is a question', { ttlMs: 1000, resultType: 'input_required' }],
  ])('is not kept when its server says %s', (_what, more) => {
    const cache = connected();
    keep(cache, more as Record<string, string | number>);
    expect(cache.get('tools/list', {})).toBeUndefined();
  });

  test('answers the same request only: method, page, address', () => {
    const cache = connected();
    keep(cache, { ttlMs: 1000 }, 'resources/read', { uri: 'a:1' });
    expect(cache.get('resources/read', { uri: 'a:2' })).toBeUndefined();
    expect(cache.get('resources/list', { uri: 'a:1' })).toBeUndefined();
    expect(cache.get('resources/read', { uri: 'a:1' })).toBeDefined();
    expect(cache.get('resources/read', { uri: 'a:1', requestState: 's' })).toBeUndefined();
    keep(cache, { ttlMs: 1000 }, 'tools/call', { name: 'x' });
    expect(cache.get('tools/call', { name: 'x' })).toBeUndefined();
  });

  test('that is private, or says nothing, is for the same headers; a public one is for everybody at this address', () => {
    const one = connected({ authorization: 'Bearer one' });
    keep(one, { ttlMs: 1000 });
    keep(one, { ttlMs: 1000, cacheScope: 'public' }, 'prompts/list');
    const same = connected({ authorization: 'Bearer one' });
    const other = connected({ authorization: 'Bearer two' });
    const elsewhere = connected({ authorization: 'Bearer one' }, 'https://b.example/mcp');
    expect([same, other, elsewhere].map((cache) => cache.get('tools/list', {}) !== undefined)).toEqual([
      true,
      false,
      false,
    ]);
    expect([same, other, elsewhere].map((cache) => cache.get('prompts/list', {}) !== undefined)).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('is forgotten when something changed, also one that was on its way then', () => {
    const cache = connected();
    keep(cache, { ttlMs: 1000 });
    const late = cache.asking('prompts/list', {});
    cache.drop();
    late(list({ ttlMs: 1000 }));
    expect(cache.get('tools/list', {})).toBeUndefined();
    expect(cache.get('prompts/list', {})).toBeUndefined();
  });

  test('is forgotten with the last connection, and the oldest ones when there are many', () => {
    const first = connected();
    keep(first, { ttlMs: 1000, cacheScope: 'public' });
    first.close();
    const cache = connected();
    expect(cache.get('tools/list', {})).toBeUndefined();
    for (let at = 0; at <= 500; at += 1) keep(cache, { ttlMs: 1000 }, 'resources/read', { uri: `a:${at}` } as object);
    expect(cache.get('resources/read', { uri: 'a:0' })).toBeUndefined();
    expect(cache.get('resources/read', { uri: 'a:500' })).toBeDefined();
  });
});
