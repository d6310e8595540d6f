import { resolve } from 'node:path';
import type { Store } from '../contracts/index.ts';
import { type Database, openDatabase, type Statement } from './database.ts';
import { sqliteFailure } from './sqlite-failure.ts';
import { prepareLayout } from './sqlite-layout.ts';
import { groupCommit, sqliteLog } from './sqlite-log.ts';
import { currentRev, sqliteTable } from './sqlite-table.ts';
import { storeClosed } from './store-closed.ts';
import { createSubscriptions } from './subscriptions.ts';

/** How often a watcher looks for other processes' changes, in milliseconds. */
const WATCH_MS = 100;

/**
 * Opens a store in one file, and makes it if there is none: an SQLite database, mode 0600, in folders of mode 0700.
 * Several processes may have it open; a writer waits up to 5 s for another.
 *
 * @param options.file path of the database, e.g. `join(stateDir(), 'state.db')`; `:memory:` for one that ends with it
 * @returns a store. `put` is on disk before it resolves, and so is `append` when it is durable. Its methods reject with
 *   `store_locked`, `store_full`, `store_corrupt`, `store_newer`, `store_failed`, and `store_closed` once it is closed
 * @throws errors with code `no_database`, `database_unusable` or `store_newer`
 */
export async function openStore(options: { readonly file: string }): Promise<Store> {
  const file = options.file === ':memory:' ? options.file : resolve(options.file);
  const database = preparedOnce(await openDatabase(file));
  let isClosed = false;
  const run = <R>(work: () => R): R => {
    if (isClosed) throw storeClosed();
    try {
      return work();
    } catch (error) {
      throw sqliteFailure(error, file);
    }
  };
  try {
    run(() => prepareLayout(database, file));
  } catch (error) {
    database.close();
    throw error;
  }

  const commit = groupCommit(database, run);
  const subscriptions = createSubscriptions();
  let seen = 0;
  let timer: NodeJS.Timeout | undefined;
  const stopLooking = () => {
    clearInterval(timer);
    timer = undefined;
  };
  const look = () => {
    if (isClosed || timer === undefined) return;
    let rows: ReturnType<ReturnType<typeof database.prepare>['all']>;
    try {
      rows = database.prepare('SELECT tbl, key, rev FROM entry WHERE rev > ? ORDER BY rev').all(seen);
    } catch {
      // Somebody may hold the file for themselves; the next look sees what this one didn't.
      return;
    }
    for (const { rev } of rows) seen = Number(rev);
    for (const { tbl, key } of rows) subscriptions.tell(String(tbl), String(key));
  };
  const watch = (table: string, prefix: string, cb: (key: string) => void) => {
    if (timer === undefined) {
      seen = run(() => currentRev(database));
      timer = setInterval(look, WATCH_MS).unref();
    } else {
      // What happened before this call is for those who were there.
      look();
    }
    const stop = subscriptions.add(table, prefix, cb);
    return () => {
      stop();
      if (subscriptions.size() === 0) stopLooking();
    };
  };

  return {
    log: (name, writer, versions) => sqliteLog({ database, name, writer, commit, run }, versions),
    table: (name, versions) =>
      sqliteTable(
        {
          database,
          name,
          run,
          changed: () => void setImmediate(look),
          watch: (prefix, cb) => watch(name, prefix, cb),
        },
        versions,
      ),
    async close() {
      if (isClosed) return;
      commit.flush();
      stopLooking();
      subscriptions.clear();
      isClosed = true;
      tidyUp(database);
      database.close();
    },
  };
}

/** Every statement is prepared once and kept: there are few, and they come often. */
function preparedOnce(database: Database): Database {
  const statements = new Map<string, Statement>();
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = statements.get(sql) ?? database.prepare(sql);
      statements.set(sql, statement);
      return statement;
    },
    close() {
      statements.clear();
      database.close();
    },
  };
}

/** Brings the write-ahead log into the file, unless somebody else is at it: they will do it when they close. */
function tidyUp(database: Database): void {
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE);');
  } catch {
    // Whoever opens the file next does it.
  }
}
