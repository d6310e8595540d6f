import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { makePrivateDir } from '../store/index.ts';
import { BridleError } from '../tools/index.ts';

/** What a person agreed to for one project folder. Hashes are SHA-256 (hex). */
export interface TrustRecord {
  /** The folder's real path. */
  readonly path: string;
  /** ISO 8601. */
  readonly at: string;
  /** By file name: the hash of the whole file. */
  readonly files: ReadonlyMap<string, string>;
  /** By item (`server fs`, `allow mcp__fs__*`): the hash of its content. */
  readonly items: ReadonlyMap<string, string>;
}

export interface TrustStore {
  /** Never throws: what can't be read is no approval. */
  get(path: string): Promise<TrustRecord | undefined>;
  /** On disk when it resolves. @throws BridleError `trust_not_saved` */
  put(record: TrustRecord): Promise<void>;
}

const FILE = 'trust.json';
const STALE_LOCK_MS = 10_000;
const LOCK_WAIT_MS = 20;
/** Long enough to outlast a lock that was left behind. */
const LOCK_TRIES = 750;

/**
 * The approvals of projects, in one file that only its owner can read. Written whole to a new file and moved into
 * place, under a lock, so that two processes lose nothing of each other.
 *
 * @param dir absolute path of the folder for state
 */
export function trustStore(dir: string): TrustStore {
  const file = join(dir, FILE);
  return {
    get: async (path) => (await load(file)).records.get(path),
    async put(record) {
      try {
        await makePrivateDir(dir);
        await withLock(`${file}.lock`, async () => {
          const { records, damaged } = await load(file);
          if (damaged) await rename(file, `${file}.damaged-${randomUUID()}`);
          records.set(record.path, record);
          await replaceFile(file, serialise(records));
        });
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new BridleError('trust_not_saved', `Your approval can't be written to ${file}: ${why}.`, {
          cause,
          hint: 'Make the folder writable, or give --trust-project for this run.',
        });
      }
    },
  };
}

async function load(file: string): Promise<{ records: Map<string, TrustRecord>; damaged: boolean }> {
  const records = new Map<string, TrustRecord>();
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    return { records, damaged: false };
  }
  try {
    const parsed: unknown = JSON.parse(text);
    if (!isObject(parsed) || !Array.isArray(parsed.projects)) return { records, damaged: true };
    for (const project of parsed.projects as unknown[]) {
      if (!isObject(project) || typeof project.path !== 'string') continue;
      const { path, at } = project;
      records.set(path, { path, at: String(at), files: hashes(project.files), items: hashes(project.items) });
    }
    return { records, damaged: false };
  } catch {
    return { records, damaged: true };
  }
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null;
}

/** Pairs, because names from outside are no keys of objects. */
function hashes(value: unknown): ReadonlyMap<string, string> {
  const pairs = Array.isArray(value) ? (value as unknown[]) : [];
  return new Map(
    pairs.flatMap((pair): [string, string][] =>
      Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'string' ? [[pair[0], pair[1]]] : [],
    ),
  );
}

function serialise(records: ReadonlyMap<string, TrustRecord>): string {
  const projects = [...records.values()].map(({ path, at, files, items }) => ({
    path,
    at,
    files: [...files],
    items: [...items],
  }));
  return `${JSON.stringify({ version: 1, projects }, null, 2)}\n`;
}

async function replaceFile(file: string, text: string): Promise<void> {
  const next = `${file}.${randomUUID()}`;
  try {
    const handle = await open(next, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

/** A lock that its holder left behind is taken over after ten seconds. */
async function withLock(lock: string, work: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      break;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST') || tries >= LOCK_TRIES) throw error;
      const age = await stat(lock).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      );
      if (age > STALE_LOCK_MS) await rm(lock, { force: true });
      else await wait(LOCK_WAIT_MS);
    }
  }
  try {
    await work();
  } finally {
    await rm(lock, { force: true });
  }
}
