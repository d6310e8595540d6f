import { open, readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordVersions, StoreLog } from '../contracts/index.ts';
import { makePrivateDir } from './places.ts';
import { readRecord, recordText } from './record-text.ts';
import { measure, openSegment, type Segment, wholeLines } from './segment.ts';
import { storeClosed } from './store-closed.ts';
import { storeError } from './store-error.ts';

/** When a file is this long, in bytes, the next record begins another. */
const SEGMENT_BYTES = 8 * 1024 * 1024;

type Versioned = { readonly v: number };

export interface LogFolderOptions<T extends Versioned = Versioned> {
  /** Made, with mode 0700, before the first append. */
  readonly dir: string;
  /** Default 8 MiB. */
  readonly segmentBytes?: number;
  /** Default: every `v` is read as it is. */
  readonly versions?: RecordVersions<T>;
}

/** A part of a writer's log: one file. */
export interface LogSegment {
  readonly first: number;
  /** `first - 1` when it is empty. */
  readonly last: number;
  /** Bytes at its end that are no whole record: a writer that was killed, or is in the middle of writing. */
  readonly torn: number;
}

/** Logs as files of JSON Lines, in one folder. Appending doesn't block the process, as a database's commit does. */
export interface LogFolder<T extends Versioned> {
  /** Everybody who has a log here, in order. */
  writers(): Promise<readonly string[]>;
  /**
   * The log of one writer. Two processes must not append as the same writer.
   *
   * @param writer letters, digits, `.`, `_` and `-`, at most 100
   */
  log(writer: string): StoreLog<T>;
  /** The files of a writer's log, oldest first. */
  segments(writer: string): Promise<readonly LogSegment[]>;
  /** Cuts off what a killed writer left behind its last whole record. Resolves to the number of bytes. */
  cutTorn(writer: string): Promise<number>;
  /** Removes the files whose records all have a number up to this one. */
  drop(writer: string, upTo: number): Promise<void>;
  /** Syncs and closes every log that was appended to. */
  close(): Promise<void>;
}

/**
 * Opens a folder of logs. Nothing is made before the first append.
 *
 * @returns a folder whose methods reject with `store_failed` when the disk says no, `store_corrupt` when a file holds
 *   something else than records, and `store_closed` once it is closed
 */
export function openLogFolder<T extends Versioned>({
  dir,
  segmentBytes = SEGMENT_BYTES,
  versions,
}: LogFolderOptions<T>): LogFolder<T> {
  const appenders = new Map<string, Appender>();
  let isClosed = false;
  const path = (writer: string, first: number) => join(dir, `${writer}.${String(first).padStart(12, '0')}.jsonl`);

  const segments = async (writer: string): Promise<LogSegment[]> => {
    const firsts = (await files(dir)).filter((file) => file.writer === writer).map(({ first }) => first);
    const found: LogSegment[] = [];
    for (const first of firsts) {
      const { lines, torn } = await measure(path(writer, first));
      found.push({ first, last: first + lines - 1, torn });
    }
    return found;
  };

  const appenderOf = (writer: string): Appender => {
    if (isClosed) throw storeClosed();
    const appender = appenders.get(checked(writer)) ?? createAppender({ dir, writer, path, segments, segmentBytes });
    appenders.set(writer, appender);
    return appender;
  };

  async function* read(writer: string, from: number): AsyncGenerator<{ seq: number; record: T }, void> {
    const found = (await files(dir)).filter((file) => file.writer === writer);
    for (const [at, { first }] of found.entries()) {
      const next = found[at + 1]?.first;
      if (next !== undefined && next <= from) continue;
      let seq = first;
      for await (const line of wholeLines(path(writer, first))) {
        const where = `${path(writer, first)}, line ${seq - first + 1}`;
        if (seq >= from) yield { seq, record: readRecord<T>(line, where, versions) };
        seq += 1;
      }
    }
  }

  return {
    async writers() {
      return [...new Set((await files(dir)).map(({ writer }) => writer))];
    },
    log: (writer) => ({
      append: async (records, durable) => appenderOf(writer).append(records.map(recordText), durable),
      read: (from) => read(checked(writer), from),
    }),
    segments: (writer) => segments(checked(writer)),
    async cutTorn(writer) {
      let cut = 0;
      for (const { first, torn } of await segments(checked(writer))) {
        if (torn === 0) continue;
        const { whole } = await measure(path(writer, first));
        await truncate(path(writer, first), whole);
        cut += torn;
      }
      return cut;
    },
    async drop(writer, upTo) {
      for (const { first, last } of await segments(checked(writer))) {
        if (last > upTo) break;
        await rm(path(writer, first));
      }
      await syncFolder(dir);
    },
    async close() {
      isClosed = true;
      await Promise.all([...appenders.values()].map((appender) => appender.close()));
    },
  };
}

interface Appender {
  append(texts: readonly string[], durable: boolean): Promise<number>;
  close(): Promise<void>;
}

interface AppenderParts {
  readonly dir: string;
  readonly writer: string;
  readonly segmentBytes: number;
  path(writer: string, first: number): string;
  segments(writer: string): Promise<readonly LogSegment[]>;
}

interface Pending {
  readonly texts: readonly string[];
  readonly durable: boolean;
  resolve(seq: number): void;
  reject(error: unknown): void;
}

/** Appends of one writer, in order; what comes while a write is under way goes out together with the next one. */
function createAppender({ dir, writer, path, segments, segmentBytes }: AppenderParts): Appender {
  let segment: Segment | undefined;
  let last = 0;
  let pending: Pending[] = [];
  let running: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  const begin = async (first: number): Promise<Segment> => {
    await makePrivateDir(dir);
    const opened = await openSegment(path(writer, first), 0, true);
    await syncFolder(dir);
    return opened;
  };
  const goOn = async (): Promise<Segment> => {
    const newest = (await segments(writer)).at(-1);
    if (newest === undefined) return begin(1);
    last = newest.last;
    const file = path(writer, newest.first);
    return openSegment(file, (await measure(file)).whole, false);
  };

  const write = async (batch: readonly Pending[]): Promise<readonly number[]> => {
    segment ??= await goOn();
    if (segment.size() >= segmentBytes) {
      const full = segment;
      segment = await begin(last + 1);
      await full.close();
    }
    const text = batch.flatMap(({ texts }) => texts.map((line) => `${line}\n`)).join('');
    await segment.append(
      text,
      batch.some(({ durable }) => durable),
    );
    return batch.map(({ texts }) => {
      last += texts.length;
      return last;
    });
  };

  const drain = async (): Promise<void> => {
    while (pending.length > 0) {
      const batch = pending;
      pending = [];
      try {
        const seqs = await write(batch);
        batch.forEach(({ resolve }, at) => {
          resolve(seqs[at] ?? last);
        });
      } catch (error) {
        for (const { reject } of batch) reject(failure(error, dir));
      }
    }
    running = undefined;
  };

  return {
    append(texts, durable) {
      if (closing) return Promise.reject(storeClosed());
      return new Promise((resolve, reject) => {
        pending.push({ texts, durable, resolve, reject });
        running ??= drain();
      });
    },
    close() {
      closing ??= (async () => {
        await running;
        await segment?.close();
      })();
      return closing;
    },
  };
}

function failure(error: unknown, dir: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const isFull = 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
  if (isFull) return storeError('store_full', `The disk of ${dir} has no room left.`, 'Free space on it.', error);
  const hint = 'Check that the folder can be written to, and its disk.';
  return storeError('store_failed', `The log in ${dir} could not be written: ${error.message}.`, hint, error);
}

/** Names of writers come from outside: only clean ones are file names, so that none leads out of the folder. */
function checked(writer: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(writer)) return writer;
  throw new TypeError('A writer is named by letters, digits, ".", "_" and "-", at most 100 of them.');
}

async function files(dir: string): Promise<readonly { readonly writer: string; readonly first: number }[]> {
  let names: string[];
  try {
    names = await readdir(dir);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw failure(error, dir);
  }
  return names.sort().flatMap((name) => {
    const [, writer, first] = /^([A-Za-z0-9][A-Za-z0-9._-]{0,99})\.(\d{12})\.jsonl$/.exec(name) ?? [];
    return writer === undefined ? [] : [{ writer, first: Number(first) }];
  });
}

/** A file's name is durable only when its folder is. Where folders can't be synced, nothing is lost by not trying. */
async function syncFolder(dir: string): Promise<void> {
  try {
    const folder = await open(dir, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch {
    // Not every file system takes this.
  }
}
