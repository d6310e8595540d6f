import { randomUUID } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const STALE_LOCK_MS = 10_000;
const LOCK_WAIT_MS = 20;
/** Long enough to outlast a lock that was left behind. */
const LOCK_TRIES = 750;

/**
 * Writes a file whole or not at all: to a new file beside it, which is then moved into its place.
 *
 * @param mode permissions of the new file, e.g. `0o600`; a new file gets no more than the umask leaves
 * @param isKept `mode` is that of the file which is replaced, so it holds whatever the umask is
 */
export async function replaceFile(file: string, text: string, mode: number, isKept = false): Promise<void> {
  const next = `${file}.${randomUUID()}`;
  try {
    const handle = await open(next, 'wx', mode);
    try {
      if (isKept) await handle.chmod(mode);
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

/**
 * Does work that only one process may do at a time. A lock that its holder left behind is taken over after ten seconds.
 *
 * @param lock path of the lock's file; its folder has to exist
 */
export async function withLock<T>(lock: string, work: () => Promise<T>): Promise<T> {
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
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}
