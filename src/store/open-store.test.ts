import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../test/helpers/mcp.ts';
import { storeBehaviour } from '../../test/helpers/store-behaviour.ts';
import { openDatabase, openStore } from './index.ts';
import { sqliteFailure } from './sqlite-failure.ts';

const OLD_STORE = fileURLToPath(new URL('../../test/fixtures/store/layout-1.sql', import.meta.url));

let dir: string;
let made = 0;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'bridle-store-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const newFile = () => {
  made += 1;
  return join(dir, String(made), 'state.db');
};
const note = (text: string) => ({ v: 1, text });

storeBehaviour('openStore', () => openStore({ file: newFile() }));
storeBehaviour('openStore in memory', () => openStore({ file: ':memory:' }));

describe('openStore', () => {
  test('makes a file for its owner only, and keeps what was written', async () => {
    const file = newFile();
    const first = await openStore({ file });
    await first.table('notes').put('a', note('kept'), null);
    await first.log('journal', 'one').append([note('kept')], true);
    await first.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const second = await openStore({ file });
    expect((await second.table('notes').get('a'))?.value).toEqual(note('kept'));
    expect(await second.log('journal', 'one').append([note('more')], true)).toBe(2);
    await second.close();
  });

  test('two that have the file open see and hear each other', async () => {
    const file = newFile();
    const [one, two] = await Promise.all([openStore({ file }), openStore({ file })]);
    const told = new Set<string>();
    two.table('notes').watch('a', (key) => told.add(key));
    await one.table('notes').put('a1', note('x'), null);
    const found = await two.table('notes').get('a1');
    expect(found?.value).toEqual(note('x'));
    expect(await eventually(() => told.has('a1'), 60_000)).toBe(true);
    told.clear();
    expect(await one.table('notes').put('a1', null, found?.rev ?? -1)).toBe(true);
    expect(await two.table('notes').put('a1', note('late'), found?.rev ?? -1)).toBe(false);
    expect(await eventually(() => told.has('a1'), 60_000)).toBe(true);
    await Promise.all([one.close(), two.close()]);
  });

  test('a store that an earlier version made keeps loading', async () => {
    const file = newFile();
    const database = await openDatabase(file);
    database.exec(readFileSync(OLD_STORE, 'utf8'));
    database.close();
    const store = await openStore({ file });
    const table = store.table('notes', { v: 1 });
    expect((await table.get('a'))?.value).toEqual(note('written by layout 1'));
    expect(await table.get('gone')).toBeUndefined();
    expect(await table.put('gone', note('again'), null)).toBe(true);
    expect((await table.get('gone'))?.rev).toBe(4);
    const records = [];
    for await (const { record } of store.log('journal', 'one', { v: 1 }).read(1)) records.push(record);
    expect(records).toEqual([note('first'), note('second')]);
    await store.close();
  });

  test('a store that a later version made is refused, not guessed at', async () => {
    const file = newFile();
    await (await openStore({ file })).close();
    const database = await openDatabase(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    await expect(openStore({ file })).rejects.toMatchObject({
      code: 'store_newer',
      message: expect.stringContaining('layout 99'),
    });
  });

  test('a record that somebody else wrote over is named', async () => {
    const file = newFile();
    const store = await openStore({ file });
    await store.table('notes').put('a', note('x'), null);
    const database = await openDatabase(file);
    database.exec(`UPDATE entry SET value = '{"v":'`);
    database.close();
    await expect(store.table('notes').get('a')).rejects.toMatchObject({
      code: 'store_corrupt',
      message: expect.stringContaining('table notes, key "a"'),
    });
    await store.close();
  });

  test('what SQLite throws gets a code and says what to do', async () => {
    const database = await openDatabase(newFile());
    database.exec('CREATE TABLE t (x); PRAGMA max_page_count = 4;');
    const fill = () => {
      for (let n = 0; n < 100; n += 1) database.prepare('INSERT INTO t VALUES (?)').run('x'.repeat(9_000));
    };
    let full: unknown;
    try {
      fill();
    } catch (error) {
      full = sqliteFailure(error, 'state.db');
    }
    database.close();
    expect(full).toMatchObject({ code: 'store_full', message: 'The store state.db has no room left.' });
    const failure = (errcode: number) => sqliteFailure(Object.assign(new Error('said'), { errcode }), 'state.db');
    expect([5, 6, 5 + 256, 11, 26, 10].map((code) => (failure(code) as { code: string }).code)).toEqual([
      'store_locked',
      'store_locked',
      'store_locked',
      'store_corrupt',
      'store_corrupt',
      'store_failed',
    ]);
    const other = new Error('not of SQLite');
    expect(sqliteFailure(other, 'state.db')).toBe(other);
  });
});
