import type { RecordVersions, StoreLog } from '../contracts/index.ts';
import type { Database } from './database.ts';
import { readRecord, recordText } from './record-text.ts';
import { transaction } from './transaction.ts';

const PAGE = 256;

interface Pending {
  readonly log: string;
  readonly writer: string;
  readonly texts: readonly string[];
  readonly durable: boolean;
  resolve(seq: number): void;
  reject(error: unknown): void;
}

/** Appends that come in one turn of the event loop, of all logs of a store, go out as one transaction with one sync. */
export interface GroupCommit {
  append(log: string, writer: string, texts: readonly string[], durable: boolean): Promise<number>;
  /** Writes what is pending. */
  flush(): void;
}

export function groupCommit(database: Database, run: <R>(work: () => R) => R): GroupCommit {
  let pending: Pending[] = [];

  const write = (batch: readonly Pending[]): readonly number[] =>
    transaction(database, () => {
      const insert = database.prepare('INSERT INTO record VALUES (?, ?, ?, ?)');
      return batch.map(({ log, writer, texts }) => {
        let seq = lastSeq(database, log, writer);
        for (const text of texts) insert.run(log, writer, ++seq, text);
        return seq;
      });
    });

  const flush = (): void => {
    if (pending.length === 0) return;
    const batch = pending;
    pending = [];
    try {
      const durable = batch.some((one) => one.durable);
      const seqs = run(() => (durable ? write(batch) : withoutSync(database, () => write(batch))));
      batch.forEach(({ resolve }, at) => {
        resolve(seqs[at] ?? 0);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  return {
    append: (log, writer, texts, durable) =>
      new Promise((resolve, reject) => {
        if (pending.length === 0) setImmediate(flush);
        pending.push({ log, writer, texts, durable, resolve, reject });
      }),
    flush,
  };
}

/** A commit that the system may still lose in a power cut, but not when the process ends. */
function withoutSync<R>(database: Database, work: () => R): R {
  database.exec('PRAGMA synchronous = NORMAL');
  try {
    return work();
  } finally {
    database.exec('PRAGMA synchronous = FULL');
  }
}

function lastSeq(database: Database, log: string, writer: string): number {
  return Number(
    database.prepare('SELECT max(seq) AS seq FROM record WHERE log = ? AND writer = ?').get(log, writer)?.seq ?? 0,
  );
}

export interface LogParts {
  readonly database: Database;
  readonly name: string;
  readonly writer: string;
  readonly commit: GroupCommit;
  run<R>(work: () => R): R;
}

/** The log of one writer, in an SQLite database. */
export function sqliteLog<T extends { readonly v: number }>(
  { database, name, writer, commit, run }: LogParts,
  versions: RecordVersions<T> | undefined,
): StoreLog<T> {
  return {
    async append(records, durable) {
      const texts = records.map(recordText);
      // Also refuses, at once, when the store is closed.
      if (texts.length === 0) return run(() => lastSeq(database, name, writer));
      run(() => {});
      return commit.append(name, writer, texts, durable);
    },
    async *read(from) {
      const page = (first: number) =>
        database
          .prepare(`SELECT seq, value FROM record WHERE log = ? AND writer = ? AND seq >= ? ORDER BY seq LIMIT ${PAGE}`)
          .all(name, writer, first);
      let next = from;
      for (let rows = run(() => page(next)); rows.length > 0; rows = run(() => page(next))) {
        for (const row of rows) {
          const seq = Number(row.seq);
          next = seq + 1;
          yield { seq, record: readRecord<T>(String(row.value), `log ${name} of ${writer}, record ${seq}`, versions) };
        }
      }
    },
  };
}
