export interface StoreLog<T extends { readonly v: number }> {
  append(records: readonly T[], durable: boolean): Promise<number>;
  read(from: number): AsyncIterable<{ readonly seq: number; readonly record: T }>;
}

export interface StoreTable<T extends { readonly v: number }> {
  get(key: string): Promise<{ readonly value: T; readonly rev: number } | undefined>;
  /** Compare-and-set: `ifRev` null means "only if absent". Resolves to false when somebody else was first. */
  put(key: string, value: T | null, ifRev: number | null): Promise<boolean>;
  list(prefix: string): AsyncIterable<readonly [string, T]>;
  /** Crosses processes and nodes. Returns the unsubscribe function. */
  watch(prefix: string, cb: (key: string) => void): () => void;
}

/** Durable state. Two shapes only; a driver is one file. */
export interface Store {
  log<T extends { readonly v: number }>(name: string, writer: string): StoreLog<T>;
  table<T extends { readonly v: number }>(name: string): StoreTable<T>;
  close(): Promise<void>;
}
