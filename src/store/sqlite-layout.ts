import type { Database } from './database.ts';
import { storeError } from './store-error.ts';
import { transaction } from './transaction.ts';

/** `PRAGMA user_version` of a store as this code makes it. */
const LAYOUT = 1;

/**
 * Makes the tables of a new store. `rev` comes from one counter for all tables, so it tells a watcher what is new and is
 * never given twice; a removed key stays as an entry without a value until the watchers of other processes have had
 * their time to see it.
 *
 * @throws an error with code `store_newer` when a later version of bridle made this file
 */
export function prepareLayout(database: Database, file: string): void {
  const found = layoutOf(database);
  if (found === LAYOUT) return;
  if (found > LAYOUT) {
    throw storeError(
      'store_newer',
      `The store ${file} has layout ${found}; this version of bridle knows up to ${LAYOUT}.`,
      'Use the version of bridle that made it, or a later one.',
    );
  }
  transaction(database, () => {
    // Another process may have been quicker.
    if (layoutOf(database) === LAYOUT) return;
    database.exec(`
      CREATE TABLE counter (id INTEGER PRIMARY KEY CHECK (id = 1), rev INTEGER NOT NULL);
      INSERT INTO counter VALUES (1, 0);
      CREATE TABLE entry (
        tbl TEXT NOT NULL, key TEXT NOT NULL, rev INTEGER NOT NULL, value TEXT, PRIMARY KEY (tbl, key)
      ) WITHOUT ROWID;
      CREATE INDEX entry_rev ON entry (rev);
      CREATE TABLE record (
        log TEXT NOT NULL, writer TEXT NOT NULL, seq INTEGER NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (log, writer, seq)
      ) WITHOUT ROWID;
      PRAGMA user_version = ${LAYOUT};
    `);
  });
}

function layoutOf(database: Database): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version);
}
