import type { Database } from './database.ts';

/**
 * Runs `work` as one transaction that holds the write lock from its first statement on, so that what it reads can't
 * change before it writes, in this process or another.
 *
 * @param work synchronous: a transaction that waits for anything else would block every other writer
 * @returns what `work` returns, once it is committed
 * @throws what `work` throws, after everything it did is undone; TypeError when it returns a promise
 */
export function transaction<T>(database: Database, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    if (result instanceof Promise) throw new TypeError('The work of a transaction must be synchronous.');
    database.exec('COMMIT');
    return result;
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // SQLite has already rolled back by itself (a full disk, say); the first error is the one that tells why.
    }
    throw error;
  }
}
