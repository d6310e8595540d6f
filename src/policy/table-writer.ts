import type { StoreTable } from '../contracts/index.ts';

interface Kept {
  readonly v: number;
  readonly place: string;
}

/** Where the records of one place are known in memory. */
interface Known<T> {
  readonly set: (id: string, record: T) => void;
  /** Called for what somebody took away. */
  readonly drop: (id: string) => void;
}

/**
 * Reads the records of a place, and goes on following them.
 *
 * @returns the end of following
 */
export async function followTable<T extends Kept>(
  table: StoreTable<T>,
  place: string,
  records: Known<T>,
): Promise<() => void> {
  /** What changes while all of them are read is newer than what is read. */
  const changed = new Set<string>();
  const unwatch = table.watch('', (key) => {
    changed.add(key);
    void table.get(key).then(
      (found) => {
        if (found === undefined) records.drop(key);
        else if (found.value.place === place) records.set(key, found.value);
      },
      () => {},
    );
  });
  for await (const [key, record] of table.list('')) {
    if (record.place === place && !changed.has(key)) records.set(key, record);
  }
  return unwatch;
}

/** What a record becomes; undefined: it stays as it is. */
export type RecordChange<T> = (there: T | undefined) => T | undefined;

export interface TableWriter<T> {
  write(id: string, change: RecordChange<T>): void;
  /** Waits until everything is written. Rejects with what the store rejects with. */
  settled(): Promise<void>;
}

/**
 * Writes one change of a record after the other. What is on disk counts: somebody may have been quicker, with another
 * definition. What could not be written stays due, and is tried again by `settled`: a disk is not full for ever.
 */
export function tableWriter<T extends Kept>(table: StoreTable<T>, records: Known<T>): TableWriter<T> {
  const due = new Map<string, RecordChange<T>[]>();
  const running = new Map<string, Promise<void>>();
  const apply = async (id: string, change: RecordChange<T>) => {
    for (;;) {
      const found = await table.get(id);
      const next = change(found?.value);
      if (next === undefined) {
        if (found) records.set(id, found.value);
        else records.drop(id);
        return;
      }
      if (!(await table.put(id, next, found?.rev ?? null))) continue;
      records.set(id, next);
      return;
    }
  };
  const drain = async (id: string, changes: RecordChange<T>[]) => {
    try {
      for (let next = changes[0]; next; next = changes[0]) {
        await apply(id, next);
        changes.shift();
      }
      due.delete(id);
    } finally {
      running.delete(id);
    }
  };
  const work = (id: string, changes: RecordChange<T>[]) => {
    const made = running.get(id) ?? drain(id, changes);
    running.set(id, made);
    return made;
  };
  return {
    write(id, change) {
      const changes = due.get(id) ?? [];
      changes.push(change);
      due.set(id, changes);
      // `settled` tells of one that fails.
      work(id, changes).catch(() => {});
    },
    async settled() {
      while (due.size > 0) await Promise.all([...due].map(([id, changes]) => work(id, changes)));
    },
  };
}
