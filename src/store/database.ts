import { closeSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadSqlite } from './driver.ts';
import { makePrivateDir } from './places.ts';
import { storeError } from './store-error.ts';

/** What SQLite stores and gives back. */
export type SqlValue = null | number | bigint | string | Uint8Array;

export interface RunResult {
  readonly changes: number | bigint;
  readonly lastInsertRowid: number | bigint;
}

/** A prepared statement: `StatementSync` of `node:sqlite`, the part that we use. Parameters are bound in order. */
export interface Statement {
  run(...parameters: readonly SqlValue[]): RunResult;
  get(...parameters: readonly SqlValue[]): Readonly<Record<string, SqlValue>> | undefined;
  all(...parameters: readonly SqlValue[]): readonly Readonly<Record<string, SqlValue>>[];
}

/** An open database: `DatabaseSync` of `node:sqlite`, the part that we use. */
export interface Database {
  /** Runs SQL that takes no parameters and gives no rows. */
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** How long a statement waits for another process's transaction, in milliseconds. */
const BUSY_MS = 5_000;
/** Two processes that make the same new file at once: SQLite refuses the change to WAL without waiting. */
const WAL_ATTEMPTS = 100;
const WAL_PAUSE_MS = 20;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The file exists with mode 0600 before SQLite opens it; SQLite gives its `-wal` and `-shm` files the same mode. */
async function makePrivateFile(file: string): Promise<void> {
  await makePrivateDir(dirname(file));
  closeSync(openSync(file, 'a', 0o600));
}

async function configure(database: Database): Promise<void> {
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA foreign_keys = ON;`);
  for (let attempt = 1; ; attempt += 1) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      break;
    } catch (error) {
      if (attempt === WAL_ATTEMPTS || !/locked|busy/i.test(messageOf(error))) throw error;
      await sleep(WAL_PAUSE_MS);
    }
  }
  // WAL's default, stated: a commit is on disk before it returns, so that what was promised survives a power cut.
  database.exec('PRAGMA synchronous = FULL');
}

/**
 * Opens an SQLite database, and makes it if there is none: file mode 0600, missing folders 0700, write-ahead log,
 * foreign keys enforced, writers that wait up to 5 s for each other.
 *
 * The engine is the one built into Node (22.13 and later), else the optional package `@photostructure/sqlite`, which
 * has the same interface. It is loaded by the first call.
 *
 * @param file path of the database, or `:memory:` for one that ends with the connection
 * @returns `DatabaseSync` of `node:sqlite`; to be closed by the caller
 * @throws an error with code `no_database` when neither engine is there, `database_unusable` when the file can't be
 *   made, opened or read as a database
 */
export async function openDatabase(file: string): Promise<Database> {
  const { DatabaseSync } = await loadSqlite();
  const path = file === ':memory:' ? file : resolve(file);
  let database: Database | undefined;
  try {
    if (path !== ':memory:') await makePrivateFile(path);
    database = new DatabaseSync(path);
    await configure(database);
    return database;
  } catch (cause) {
    database?.close();
    throw storeError(
      'database_unusable',
      `The database ${path} can't be used: ${messageOf(cause)}.`,
      'Check that the folder is writable and that the file is an SQLite database, or name another file.',
      cause,
    );
  }
}
