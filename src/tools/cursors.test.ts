import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Identity } from '../contracts/index.ts';
import { BridleError } from './bridle-error.ts';
import { cursors, type Page } from './cursors.ts';
import { ToolFailure } from './failure.ts';

const ada: Identity = { agent: 'a', user: 'ada', via: 'gateway' };
const bob: Identity = { agent: 'a', user: 'bob', via: 'gateway' };
const self = (item: string) => item;

test('pages make up the list, whatever its length and theirs', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), (all, size) => {
      const list = cursors({ of: 'x', size });
      const seen: string[] = [];
      for (let next: Page<string> = list.page(ada, all, undefined, self); ; ) {
        seen.push(...next.items);
        if (next.nextCursor === undefined) break;
        next = list.page(ada, all, next.nextCursor, self);
      }
      expect(seen).toEqual(all);
    }),
  );
});

test('what comes and goes before the next page shifts nothing', () => {
  const list = cursors({ of: 'x', size: 3 });
  const { nextCursor } = list.page(ada, ['a', 'b', 'c', 'd', 'e'], undefined, self);
  expect(list.page(ada, ['new', 'a', 'b', 'c', 'd', 'e'], nextCursor, self).items).toEqual(['d', 'e']);
  expect(list.page(ada, ['b', 'c', 'd', 'e'], nextCursor, self).items).toEqual(['d', 'e']);
  expect(list.page(ada, ['b', 'd', 'e'], nextCursor, self).items).toEqual(['d', 'e']);
  expect(list.page(ada, [], nextCursor, self)).toEqual({ items: [] });
});

test('only the caller who got a cursor can use it, only for its list, and only as it was', () => {
  const list = cursors({ of: 'x', size: 1 });
  const cursor = list.seal(ada, { after: 'k-9' });
  expect(cursor).not.toContain('k-9');
  expect(list.open(ada, cursor)).toEqual({ after: 'k-9' });
  expect(list.open(ada, undefined)).toBeNull();
  const flipped = `${cursor[0] === 'A' ? 'B' : 'A'}${cursor.slice(1)}`;
  for (const bad of ['', 'x', flipped, `${cursor}=`, 'A'.repeat(20_000)])
    expect(() => list.open(ada, bad)).toThrow(ToolFailure);
  expect(() => list.open(bob, cursor)).toThrow(ToolFailure);
});

test('processes with one secret take each other’s cursors, and no other list does', () => {
  const cursor = cursors({ of: 'x', secret: 's' }).seal(ada, 7);
  expect(cursors({ of: 'x', secret: 's' }).open(ada, cursor)).toBe(7);
  for (const other of [{ of: 'y', secret: 's' }, { of: 'x', secret: 't' }, { of: 'x' }])
    expect(() => cursors(other).open(ada, cursor)).toThrow(ToolFailure);
});

test.each([0, -1, 2.5])('a page of %s items is refused', (size) => {
  expect(() => cursors({ of: 'x', size })).toThrow(BridleError);
});
