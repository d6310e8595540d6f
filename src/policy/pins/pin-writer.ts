import type { StoreTable } from '../../contracts/index.ts';
import type { PinRecord } from './pin-record.ts';
import type { PinRecords } from './pin-records.ts';

type Change = (there: PinRecord | undefined) => PinRecord | undefined;

/**
 * Writes one record after the other. What is on disk counts: somebody may have been quicker, with another definition.
 * What could not be written stays due, and is tried again by `settled`: a disk is not full for ever.
 *
 * @param drop called for what somebody forgot meanwhile
 */
export function pinWriter(table: StoreTable<PinRecord>, records: PinRecords, drop: (id: string) => void) {
  const due = new Map<string, Change[]>();
  const running = new Map<string, Promise<void>>();
  const apply = async (id: string, change: Change) => {
    for (;;) {
      const found = await table.get(id);
      const next = change(found?.value);
      if (next === undefined) {
        if (found) records.set(id, found.value);
        else drop(id);
        return;
      }
      if (!(await table.put(id, next, found?.rev ?? null))) continue;
      records.set(id, next);
      return;
    }
  };
  const drain = async (id: string, changes: Change[]) => {
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
  const work = (id: string, changes: Change[]) => {
    const made = running.get(id) ?? drain(id, changes);
    running.set(id, made);
    return made;
  };
  return {
    write(id: string, change: Change) {
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
