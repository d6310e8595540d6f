import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../src/contracts/index.ts';
import { eventually } from './mcp.ts';

interface Note {
  readonly v: number;
  readonly text: string;
}

const note = (text: string): Note => ({ v: 1, text });

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** What every driver does, whatever it keeps its records in. */
export function storeBehaviour(name: string, open: () => Promise<Store>): void {
  describe(`${name}, as a store`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    test('puts only where the revision is the one that was read', async () => {
      const table = store.table<Note>('notes');
      expect(await table.get('a')).toBeUndefined();
      expect(await table.put('a', note('one'), null)).toBe(true);
      expect(await table.put('a', note('again'), null)).toBe(false);
      const first = await table.get('a');
      expect(first?.value).toEqual(note('one'));
      expect(await table.put('a', note('two'), first?.rev ?? -1)).toBe(true);
      expect(await table.put('a', note('late'), first?.rev ?? -1)).toBe(false);
      expect((await table.get('a'))?.value).toEqual(note('two'));
    });

    test('removes by compare-and-set, and a key that is made again is another one', async () => {
      const table = store.table<Note>('notes');
      await table.put('a', note('one'), null);
      const rev = (await table.get('a'))?.rev ?? -1;
      expect(await table.put('a', null, rev + 1)).toBe(false);
      expect(await table.put('a', null, rev)).toBe(true);
      expect(await table.get('a')).toBeUndefined();
      expect(await table.put('a', null, null)).toBe(true);
      expect(await table.put('a', note('new'), rev)).toBe(false);
      expect(await table.put('a', note('new'), null)).toBe(true);
      expect((await table.get('a'))?.rev).toBeGreaterThan(rev);
    });

    test('of many that put the same key at once exactly one is first', async () => {
      const table = store.table<Note>('notes');
      const puts = await Promise.all(Array.from({ length: 20 }, (_, at) => table.put('a', note(`${at}`), null)));
      expect(puts.filter(Boolean)).toHaveLength(1);
    });

    test('lists the keys of a prefix in the order of their bytes, whatever stands in them', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'a%', 'a_', 'A', 'a')), {
            maxLength: 12,
          }),
          fc.string({ maxLength: 1, unit: 'binary' }),
          fc.uuid(),
          async (keys, prefix, fresh) => {
            const table = store.table<Note>(fresh);
            for (const key of keys) await table.put(key, note(key), null);
            const expected = keys.filter((key) => key.startsWith(prefix));
            expected.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
            expect(await all(table.list(prefix))).toEqual(expected.map((key) => [key, note(key)]));
          },
        ),
        { numRuns: 30 },
      );
    });

    test('lists more than a page of keys, and can be written to meanwhile', async () => {
      const table = store.table<Note>('notes');
      const keys = Array.from({ length: 300 }, (_, at) => `k${String(at).padStart(4, '0')}`);
      for (const key of keys) await table.put(key, note(key), null);
      const seen: string[] = [];
      for await (const [key] of table.list('k')) {
        seen.push(key);
        await table.put(key, null, (await table.get(key))?.rev ?? -1);
      }
      expect(seen).toEqual(keys);
      expect(await all(table.list(''))).toEqual([]);
    });

    test('tells a watcher what was put and removed below its prefix, until it unsubscribes', async () => {
      const table = store.table<Note>('notes');
      await table.put('x/before', note(''), null);
      const told = new Set<string>();
      const stop = table.watch('x/', (key) => told.add(key));
      store.table<Note>('others').watch('', () => {
        throw new Error('a listener that throws');
      });
      await table.put('x/a', note(''), null);
      await table.put('y/a', note(''), null);
      await store.table<Note>('others').put('x/other', note(''), null);
      expect(await eventually(() => told.has('x/a'), 60_000)).toBe(true);
      told.clear();
      await table.put('x/a', null, (await table.get('x/a'))?.rev ?? -1);
      expect(await eventually(() => told.has('x/a'), 60_000)).toBe(true);
      stop();
      const after = new Set<string>();
      table.watch('x/', (key) => after.add(key));
      await table.put('x/b', note(''), null);
      expect(await eventually(() => after.has('x/b'), 60_000)).toBe(true);
      expect([...told]).toEqual(['x/a']);
    });

    test('appends in order, for each writer by itself, and reads on from a number', async () => {
      const one = store.log<Note>('journal', 'one');
      const two = store.log<Note>('journal', 'two');
      const ends = await Promise.all([
        one.append([note('a'), note('b')], true),
        two.append([note('x')], false),
        one.append([note('c')], false),
      ]);
      expect(ends).toEqual([2, 1, 3]);
      expect(await one.append([], true)).toBe(3);
      expect((await all(one.read(1))).map(({ seq, record }) => [seq, record.text])).toEqual([
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ]);
      expect((await all(one.read(3))).map(({ record }) => record.text)).toEqual(['c']);
      expect(await all(one.read(4))).toEqual([]);
      expect((await all(two.read(0))).map(({ seq }) => seq)).toEqual([1]);
      expect(await all(store.log('journal', 'nobody').read(1))).toEqual([]);
    });

    test('a record that was handed in or out can be changed without changing what is stored', async () => {
      const table = store.table<{ v: number; tags: string[] }>('notes');
      const value = { v: 1, tags: ['a'] };
      await table.put('a', value, null);
      value.tags.push('b');
      (await table.get('a'))?.value.tags.push('c');
      expect((await table.get('a'))?.value.tags).toEqual(['a']);
    });

    test('a record without a version is refused', async () => {
      await expect(store.table('notes').put('a', { text: 'x' } as never, null)).rejects.toThrow(TypeError);
      await expect(store.log('journal', 'one').append([{ v: 0.5 }], true)).rejects.toThrow(TypeError);
    });

    test('an earlier version is upgraded as it is read, and a later one refused by name', async () => {
      await store.table<Note>('notes').put('old', note('words'), null);
      await store.log<Note>('journal', 'one').append([note('words'), { v: 3, text: 'later' }], true);
      const versions = { v: 2, upgrade: (old: { v: number }) => ({ v: 2, words: (old as Note).text }) };
      expect((await store.table('notes', versions).get('old'))?.value).toEqual({ v: 2, words: 'words' });
      const read: unknown[] = [];
      const reading = (async () => {
        for await (const { record } of store.log('journal', 'one', versions).read(1)) read.push(record);
      })();
      await expect(reading).rejects.toMatchObject({
        code: 'store_newer',
        message: expect.stringContaining('log journal of one, record 2 has version 3'),
      });
      expect(read).toEqual([{ v: 2, words: 'words' }]);
    });

    test('refuses everything once it is closed, and closes twice without complaint', async () => {
      const table = store.table<Note>('notes');
      const log = store.log<Note>('journal', 'one');
      const pending = log.append([note('last')], true);
      await store.close();
      await store.close();
      await expect(pending).resolves.toBe(1);
      const closed = { code: 'store_closed' };
      await expect(table.get('a')).rejects.toMatchObject(closed);
      await expect(table.put('a', note(''), null)).rejects.toMatchObject(closed);
      await expect(log.append([note('')], false)).rejects.toMatchObject(closed);
      await expect(all(table.list(''))).rejects.toMatchObject(closed);
      expect(() => table.watch('', () => {})).toThrow('closed');
    });
  });
}
