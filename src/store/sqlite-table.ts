import type { RecordVersions, StoreTable } from '../contracts/index.ts';
import type { Database } from './database.ts';
import { readRecord, recordText } from './record-text.ts';
import { transaction } from './transaction.ts';

/** How many changes a removed key is remembered for, so that watchers of other processes see that it is gone. */
const REMEMBERED = 10_000;
const PAGE = 256;

export interface TableParts {
  readonly database: Database;
  readonly name: string;
  /** Runs what touches the database; its errors come out in this folder's words. */
  run<R>(work: () => R): R;
  changed(): void;
  watch(prefix: string, cb: (key: string) => void): () => void;
}

/** One table of a store, in an SQLite database. */
export function sqliteTable<T extends { readonly v: number }>(
  { database, name, run, changed, watch }: TableParts,
  versions: RecordVersions<T> | undefined,
): StoreTable<T> {
  const read = (key: string, text: unknown) => readRecord<T>(String(text), `table ${name}, key "${key}"`, versions);
  const find = (key: string) =>
    database.prepare('SELECT rev, value FROM entry WHERE tbl = ? AND key = ? AND value IS NOT NULL').get(name, key);
  return {
    async get(key) {
      const row = run(() => find(key));
      return row && { value: read(key, row.value), rev: Number(row.rev) };
    },
    async put(key, value, ifRev) {
      const text = value === null ? null : recordText(value);
      const isPut = run(() =>
        transaction(database, () => {
          const row = find(key);
          if ((row === undefined ? null : Number(row.rev)) !== ifRev) return false;
          if (text === null && ifRev === null) return true;
          const rev = nextRev(database);
          database
            .prepare(
              'INSERT INTO entry VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET rev = excluded.rev, value = excluded.value',
            )
            .run(name, key, rev, text);
          if (text === null) {
            database.prepare('DELETE FROM entry WHERE rev < ? AND value IS NULL').run(rev - REMEMBERED);
          }
          return true;
        }),
      );
      if (isPut) changed();
      return isPut;
    },
    async *list(prefix) {
      const page = (after: string, sign: '>' | '>=') =>
        database
          .prepare(
            `SELECT key, value FROM entry WHERE tbl = ? AND key ${sign} ? AND value IS NOT NULL ORDER BY key LIMIT ${PAGE}`,
          )
          .all(name, after);
      // In pages, so that a slow reader holds no lock and no old view of the database.
      for (let rows = run(() => page(prefix, '>=')); rows.length > 0; ) {
        let last = '';
        for (const row of rows) {
          last = String(row.key);
          if (!last.startsWith(prefix)) return;
          yield [last, read(last, row.value)];
        }
        if (rows.length < PAGE) return;
        rows = run(() => page(last, '>'));
      }
    },
    watch,
  };
}

function nextRev(database: Database): number {
  database.prepare('UPDATE counter SET rev = rev + 1').run();
  return currentRev(database);
}

export function currentRev(database: Database): number {
  return Number(database.prepare('SELECT rev FROM counter').get()?.rev);
}
