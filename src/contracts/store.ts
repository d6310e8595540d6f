/**
 * Which versions of a record the caller knows. A stored record with a higher `v` is refused with `store_newer`, never
 * guessed at; one with a lower `v` goes through `upgrade` when it is read, and stays as it was written until it is put
 * again.
 */
export interface RecordVersions<T extends { readonly v: number }> {
  /** The version that is written, and the highest that is read. */
  readonly v: number;
  /** Makes a record of an earlier version into one of this version. Absent: earlier records are read as they are. */
  upgrade?(record: { readonly v: number }): T;
}

export interface StoreLog<T extends { readonly v: number }> {
  /**
   * @param durable wait until the records are on disk, so that they outlive a power cut; appends at the same time share
   *   one sync
   * @returns the number of the last record, counted from 1 in this log of this writer
   */
  append(records: readonly T[], durable: boolean): Promise<number>;
  /** In order, beginning with number `from`. */
  read(from: number): AsyncIterable<{ readonly seq: number; readonly record: T }>;
}

export interface StoreTable<T extends { readonly v: number }> {
  get(key: string): Promise<{ readonly value: T; readonly rev: number } | undefined>;
  /**
   * Compare-and-set: `ifRev` null means "only if absent". Resolves to false when somebody else was first. A `value` of
   * null removes the key. No `rev` is ever given twice, so a key that was removed and made again is another one.
   */
  put(key: string, value: T | null, ifRev: number | null): Promise<boolean>;
  /** In the order of the keys' UTF-8 bytes. */
  list(prefix: string): AsyncIterable<readonly [string, T]>;
  /**
   * Crosses processes and nodes. Tells that a key was put or removed after this call, at least once; several changes of
   * a key may be told as one. Returns the unsubscribe function.
   */
  watch(prefix: string, cb: (key: string) => void): () => void;
}

/** Durable state. Two shapes only; a driver is one file. */
export interface Store {
  /** @param versions default: every `v` is read as it is */
  log<T extends { readonly v: number }>(name: string, writer: string, versions?: RecordVersions<T>): StoreLog<T>;
  /** @param versions default: every `v` is read as it is */
  table<T extends { readonly v: number }>(name: string, versions?: RecordVersions<T>): StoreTable<T>;
  close(): Promise<void>;
}
