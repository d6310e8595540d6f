import { storeError } from './store-error.ts';

/** SQLite's primary result codes (sqlite.org/rescode.html), of the extended ones the low byte. */
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const FULL = 13;
const NOT_A_DATABASE = 26;

/** What SQLite threw, in the words of this folder. Errors that aren't SQLite's are given back as they are. */
export function sqliteFailure(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error;
  switch (error.errcode & 0xff) {
    case BUSY:
    case LOCKED:
      return storeError(
        'store_locked',
        `The store ${file} was held by another process for too long.`,
        'Try again; if it stays so, end the process that holds the file open.',
        error,
      );
    case CORRUPT:
    case NOT_A_DATABASE:
      return storeError(
        'store_corrupt',
        `The store ${file} is damaged: ${error.message}.`,
        'Restore it from a copy, or move it away with its -wal file; a new one is then made.',
        error,
      );
    case FULL:
      return storeError(
        'store_full',
        `The store ${file} has no room left.`,
        'Free space on its disk; nothing that was acknowledged is lost.',
        error,
      );
    default:
      return storeError(
        'store_failed',
        `The store ${file} could not be read or written: ${error.message}.`,
        'Check its disk and its permissions.',
        error,
      );
  }
}
