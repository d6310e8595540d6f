import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

const STALE_LOCK_MS = 10_000;
const LOCK_WAIT_MS = 20;
/** Long enough to outlast a lock that was left behind. */
const LOCK_TRIES = 750;

/** Whose a file is, and who may do what with it. */
export interface FileAccess {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Writes a file whole or not at all: to a new file beside it, which is then moved into its place.
 *
 * @param access permissions of a new file, e.g. `0o600`, less what the umask takes; or those of the file that is replaced,
 *   which are kept, and its owner and group as far as that is allowed
 */
export async function replaceFile(file: string, text: string, access: number | FileAccess): Promise<void> {
  const next = `${file}.${randomUUID()}`;
  try {
    const handle = await open(next, 'wx', typeof access === 'number' ? access : 0o600);
    try {
      if (typeof access !== 'number') await takeOver(handle, access);
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

/** Only root gives a file away; its owner may give it to a group of theirs. */
async function takeOver(handle: FileHandle, { mode, uid, gid }: FileAccess): Promise<void> {
  const own = await handle.stat();
  const isDone = (work: Promise<void>) =>
    work.then(
      () => true,
      () => false,
    );
  const hasGroup =
    (own.uid === uid && own.gid === gid) ||
    (await isDone(handle.chown(uid, gid))) ||
    (await isDone(handle.chown(own.uid, gid)));
  const bits = mode & 0o777;
  // What one group may do was not given to another: that one gets what everybody has.
  await handle.chmod(hasGroup ? bits : bits & (0o707 | ((bits & 0o007) << 3)));
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
