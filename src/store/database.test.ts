import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { noDatabase } from './driver.ts';
import { type Database, openDatabase, transaction } from './index.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bridle-store-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const mode = (path: string) => statSync(path).mode & 0o777;

function notes(database: Database): readonly unknown[] {
  return database
    .prepare('SELECT text FROM note ORDER BY id')
    .all()
    .map((row) => row.text);
}

describe('openDatabase', () => {
  test('makes the file and its folders for their owner only, write-ahead log included', async () => {
    const file = join(dir, 'deep', 'er', 'notes.db');
    const database = await openDatabase(file);
    database.exec('CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
    expect([mode(file), mode(`${file}-wal`), mode(join(dir, 'deep')), mode(join(dir, 'deep', 'er'))]).toEqual([
      0o600, 0o600, 0o700, 0o700,
    ]);
    database.close();
  });

  test('keeps what was written for the next who opens the file', async () => {
    const file = join(dir, 'notes.db');
    const first = await openDatabase(file);
    first.exec('CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
    first.prepare('INSERT INTO note (text) VALUES (?)').run('kept');
    first.close();
    const second = await openDatabase(file);
    expect(notes(second)).toEqual(['kept']);
    second.close();
  });

  test('enforces foreign keys and uses the write-ahead log', async () => {
    const database = await openDatabase(join(dir, 'notes.db'));
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.exec('CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a INTEGER REFERENCES a (id));');
    expect(() => database.exec('INSERT INTO b VALUES (1)')).toThrow(/FOREIGN KEY/);
    database.close();
  });

  test('a database in memory needs no file', async () => {
    const database = await openDatabase(':memory:');
    expect(database.prepare('SELECT 1 AS one').get()).toEqual({ one: 1 });
    database.close();
  });

  test('many that open the same new file at once all get it', async () => {
    const file = join(dir, 'notes.db');
    const all = await Promise.all(Array.from({ length: 8 }, () => openDatabase(file)));
    for (const database of all) database.close();
    expect(all).toHaveLength(8);
  });

  test('a file that is no database is named, with what to do', async () => {
    const file = join(dir, 'notes.db');
    writeFileSync(file, 'this is a text file and not a database at all, long enough to have a header'.repeat(20));
    await expect(openDatabase(file)).rejects.toMatchObject({
      name: 'BridleError',
      code: 'database_unusable',
      message: expect.stringContaining(file),
      hint: expect.stringContaining('SQLite'),
    });
  });

  test('without an engine the error says which Node or which package to use', () => {
    expect(noDatabase('20.19.0', new Error('not found'))).toMatchObject({
      name: 'BridleError',
      code: 'no_database',
      message: expect.stringContaining('Node 20.19.0'),
      hint: 'Use Node 22.13 or later, or install it: npm install @photostructure/sqlite',
    });
  });

  test('warnings that are not about SQLite still arrive while it loads', async () => {
    const seen: string[] = [];
    const listener = (warning: Error) => seen.push(warning.message);
    process.on('warning', listener);
    (await openDatabase(':memory:')).close();
    process.emitWarning('SQLite is an experimental feature, said by somebody else later');
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listener);
    expect(seen).toEqual(['SQLite is an experimental feature, said by somebody else later']);
  });
});

describe('transaction', () => {
  test('undoes everything when the work throws', async () => {
    const database = await openDatabase(join(dir, 'notes.db'));
    database.exec('CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
    expect(() =>
      transaction(database, () => {
        database.prepare('INSERT INTO note (text) VALUES (?)').run('undone');
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(notes(database)).toEqual([]);
    expect(
      transaction(database, () => database.prepare('INSERT INTO note (text) VALUES (?)').run('done').changes),
    ).toBe(1);
    expect(notes(database)).toEqual(['done']);
    database.close();
  });

  test('refuses work that goes on after it returned, and commits nothing of it', async () => {
    const database = await openDatabase(join(dir, 'notes.db'));
    database.exec('CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
    const work = async () => database.prepare('INSERT INTO note (text) VALUES (?)').run('half').changes;
    expect(() => transaction(database, work)).toThrow(TypeError);
    expect(notes(database)).toEqual([]);
    database.close();
  });
});
