import type { StoreTable } from '../../contracts/index.ts';
import { type AlwaysRecord, type ApprovalRecord, expired } from './record.ts';

/** Somebody else was quicker this often in a row: something is wrong with the store, or with who uses it. */
const MOST_TRIES = 100;

type Change<R, N> = (record: R) => R | { readonly left: N };

/**
 * Changes a record by compare-and-set: reads it, asks what it is to become, and writes that only if nobody was quicker.
 * A record whose time is over is first written down as expired.
 *
 * @param change gives the new record, or says with `left` why it is left as it is; called again when somebody else
 *   changed the record meanwhile
 * @returns the record as it is now, and what `change` left it with
 */
export async function changeRecord<R extends ApprovalRecord | AlwaysRecord, N>(
  table: StoreTable<R>,
  key: string,
  now: () => number,
  change: Change<R, N>,
): Promise<{ readonly record: R; readonly left?: N } | undefined> {
  for (let nth = 0; nth < MOST_TRIES; nth += 1) {
    const found = await table.get(key);
    if (found === undefined) return undefined;
    const over = expired(found.value, now());
    if (over) {
      await table.put(key, over, found.rev);
      continue;
    }
    const next = change(found.value);
    if ('left' in next) return { record: found.value, left: next.left };
    if (await table.put(key, next, found.rev)) return { record: next };
  }
  throw new Error(`The record ${key} changed too often to be written.`);
}

/** All records under a prefix; those whose time is over are written down as expired on the way. */
export async function currentRecords<R extends ApprovalRecord | AlwaysRecord>(
  table: StoreTable<R>,
  prefix: string,
  now: () => number,
): Promise<readonly R[]> {
  const all: R[] = [];
  for await (const [key, record] of table.list(prefix)) {
    if (expired(record, now()) === undefined) {
      all.push(record);
      continue;
    }
    const kept = await changeRecord(table, key, now, () => ({ left: undefined }));
    if (kept) all.push(kept.record);
  }
  return all;
}
