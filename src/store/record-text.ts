import type { RecordVersions } from '../contracts/index.ts';
import { storeError } from './store-error.ts';

interface Versioned {
  readonly v: number;
}

/**
 * A record as the text that is stored.
 *
 * @throws TypeError when it has no whole number as its `v`, or can't be JSON
 */
export function recordText(record: Versioned): string {
  if (!Number.isSafeInteger(record?.v)) throw new TypeError('A stored record needs its version as a whole number, v.');
  return JSON.stringify(record);
}

/**
 * A stored text as the record that it holds, brought to the version that the caller knows.
 *
 * @param where names the record for the reader of an error, e.g. `table approvals, key "a1"`
 * @throws an error with code `store_corrupt` when the text isn't a record, `store_newer` when it is of a later version
 */
export function readRecord<T extends Versioned>(
  text: string,
  where: string,
  versions: RecordVersions<T> | undefined,
): T {
  const record = parsed(text, where);
  if (versions === undefined || record.v === versions.v) return record as T;
  if (record.v > versions.v) {
    throw storeError(
      'store_newer',
      `The record in ${where} has version ${record.v}; this version of bridle reads up to ${versions.v}.`,
      'Use the version of bridle that wrote it, or a later one.',
    );
  }
  return versions.upgrade ? versions.upgrade(record) : (record as T);
}

function parsed(text: string, where: string): Versioned {
  let cause: unknown;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'v' in value && typeof value.v === 'number') {
      return value as Versioned;
    }
  } catch (error) {
    cause = error;
  }
  throw storeError(
    'store_corrupt',
    `What is stored in ${where} is not a record.`,
    'Somebody else wrote to this store: restore it from a copy, or remove that record.',
    cause,
  );
}
