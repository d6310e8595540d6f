import type { JsonObject } from '../../contracts/index.ts';

/** How a task's call ended. `text` is a result as JSON, as it was received. */
export type TaskEnd =
  | { readonly kind: 'result'; readonly text: string; readonly isError: boolean }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: JsonObject };

/** A task as it is kept, in the words of neither era. Records never change; they are replaced. */
export interface TaskRecord {
  readonly id: string;
  /** Whose it is: nobody else finds it. */
  readonly owner: string;
  /** In milliseconds since 1970, as `updatedAt`. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How long it is kept from its start, in milliseconds. */
  readonly ttlMs: number;
  readonly message?: string;
  /** What its client is asked and hasn't answered, by a key that comes once in a task. */
  readonly requests: ReadonlyMap<string, JsonObject>;
  readonly isCancelled: boolean;
  /** Absent while it runs. */
  readonly end?: TaskEnd;
}

/** Where tasks are kept. */
export interface TaskStore {
  put(record: TaskRecord): void;
  get(id: string): TaskRecord | undefined;
  /** Whether there is one of this owner. */
  has(owner: string): boolean;
  /** Those of one owner, the oldest first. */
  of(owner: string): readonly TaskRecord[];
  remove(id: string): void;
  readonly size: number;
}

/** Keeps tasks for as long as the process lives. */
export function memoryTaskStore(): TaskStore {
  const records = new Map<string, TaskRecord>();
  const owned = new Map<string, Set<string>>();
  return {
    put(record) {
      records.set(record.id, record);
      const ids = owned.get(record.owner);
      if (ids) ids.add(record.id);
      else owned.set(record.owner, new Set([record.id]));
    },
    get: (id) => records.get(id),
    has: (owner) => owned.has(owner),
    of: (owner) => [...(owned.get(owner) ?? [])].flatMap((id) => records.get(id) ?? []),
    remove(id) {
      const record = records.get(id);
      if (!record) return;
      records.delete(id);
      const ids = owned.get(record.owner);
      ids?.delete(id);
      if (ids?.size === 0) owned.delete(record.owner);
    },
    get size() {
      return records.size;
    },
  };
}
