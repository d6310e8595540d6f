import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makePrivateDir, stateDir } from './places.ts';
import { storeError } from './store-error.ts';

const BYTES = 32;

/**
 * The secret of this installation, 32 bytes, made when it is first needed: for digests that only this installation can
 * make and check. The file has mode 0600.
 *
 * @param file default: `installation.key` in the state folder
 * @throws an error with code `key_unusable` when the file can't be made or read, or holds something else
 */
export async function installationKey(file: string = join(stateDir(), 'installation.key')): Promise<Uint8Array> {
  return keyOf(file, await guarded(file, async () => (await readIfThere(file)) ?? make(file)));
}

/**
 * The same secret where there is one; nothing is written.
 *
 * @returns undefined: the file isn't there
 * @throws an error with code `key_unusable` when the file can't be read, or holds something else
 */
export async function keyIfThere(file: string): Promise<Uint8Array | undefined> {
  const text = await guarded(file, () => readIfThere(file));
  return text === undefined ? undefined : keyOf(file, text);
}

async function guarded<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw unusable(file, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function keyOf(file: string, text: string): Uint8Array {
  if (/^[0-9a-f]{64}\n$/.test(text)) return Buffer.from(text.trim(), 'hex');
  throw unusable(file, 'it holds something else than a key');
}

function unusable(file: string, why: string, cause?: unknown): Error {
  return storeError(
    'key_unusable',
    `The key of this installation, ${file}, can't be used: ${why}.`,
    'Check the folder and the file. A file that is moved away is made anew; earlier digests then match no more.',
    cause,
  );
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Written whole under another name and then linked, so that of several that make it at once all read the same one. */
async function make(file: string): Promise<string> {
  await makePrivateDir(dirname(file));
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${randomBytes(BYTES).toString('hex')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(file, 'utf8');
}
