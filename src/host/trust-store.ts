import { randomUUID } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateDir } from '../store/index.ts';
import { BridleError } from '../tools/index.ts';
import { replaceFile, withLock } from './replace-file.ts';

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
  /** @returns whether there was an approval to forget. @throws BridleError `trust_not_saved` */
  forget(path: string): Promise<boolean>;
}

const FILE = 'trust.json';

/**
 * The approvals of projects, in one file that only its owner can read. Written whole to a new file and moved into
 * place, under a lock, so that two processes lose nothing of each other.
 *
 * @param dir absolute path of the folder for state
 */
export function trustStore(dir: string): TrustStore {
  const file = join(dir, FILE);
  const change = async <T>(work: (records: Map<string, TrustRecord>) => T): Promise<T> => {
    try {
      await makePrivateDir(dir);
      return await withLock(`${file}.lock`, async () => {
        const { records, damaged } = await load(file);
        if (damaged) await rename(file, `${file}.damaged-${randomUUID()}`);
        const result = work(records);
        await replaceFile(file, serialise(records), 0o600);
        return result;
      });
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new BridleError('trust_not_saved', `Your approvals can't be written to ${file}: ${why}.`, {
        cause,
        hint: 'Make the folder writable, or give --trust-project for this run.',
      });
    }
  };
  return {
    get: async (path) => (await load(file)).records.get(path),
    put: (record) => change((records) => void records.set(record.path, record)),
    async forget(path) {
      if (!(await load(file)).records.has(path)) return false;
      return change((records) => records.delete(path));
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
