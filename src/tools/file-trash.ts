import { randomBytes } from 'node:crypto';
import { constants, cp, lstat, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { BridleError } from './bridle-error.ts';
import { makeFolder } from './make-folder.ts';

/** What lies in the trash. */
export interface Trashed {
  /** To restore it by. */
  readonly id: string;
  /** Where it was: an absolute path. */
  readonly path: string;
  /** ISO 8601 date and time. */
  readonly trashedAt: string;
}

export interface FileTrash {
  /**
   * Moves a file or a folder into the trash, in place of deleting it. A link is moved itself, not what it leads to.
   *
   * @throws BridleError `trash_missing` when there is nothing at the path
   */
  put(path: string): Promise<Trashed>;
  /**
   * Moves it back to where it was.
   *
   * @throws BridleError `trash_unknown` for an id that isn't in the trash, and `trash_occupied` when something else is
   *   there by now; the trash is as it was
   */
  restore(id: string): Promise<Trashed>;
  /** Newest first. */
  list(): Promise<Trashed[]>;
  /** Deletes for good what was put in before this time. Returns what that was. For people, not for models. */
  purge(before: Date): Promise<Trashed[]>;
}

const ID = /^[0-9a-f]{24}$/;
const NOTE = 'was.json';

/**
 * A trash for tools that remove files: what a model deletes by mistake can be had back by its id.
 *
 * @param folder where the trash is kept; made with mode 0700 when it isn't there. Best on the same disk as the files
 */
export function fileTrash(folder: string): FileTrash {
  const root = resolve(folder);
  const at = (id: string) => join(root, id);

  const find = async (id: string): Promise<Trashed> => {
    const trashed = ID.test(id) ? await read(at(id), id) : undefined;
    if (trashed) return trashed;
    throw new BridleError('trash_unknown', `Nothing with the id ${JSON.stringify(id.slice(0, 80))} is in the trash.`, {
      hint: 'Take an id that putting it in gave, or that the list shows.',
    });
  };

  const list = async (): Promise<Trashed[]> => {
    const names = await readdir(root).catch(() => []);
    const all = await Promise.all(names.filter((name) => ID.test(name)).map((id) => read(at(id), id)));
    return all.filter((one) => one !== undefined).sort((a, b) => b.trashedAt.localeCompare(a.trashedAt));
  };

  return {
    list,
    async put(given) {
      const path = resolve(given);
      if (!(await isThere(path))) {
        throw new BridleError('trash_missing', `There is nothing at ${path}.`, { hint: 'Check the path.' });
      }
      if (path === root || root.startsWith(`${path}${sep}`)) {
        throw new BridleError('trash_missing', `${path} holds the trash itself, so it can't be put into it.`, {
          hint: 'Name what lies in it, one by one.',
        });
      }
      const id = randomBytes(12).toString('hex');
      const trashed: Trashed = { id, path, trashedAt: new Date().toISOString() };
      await makeFolder(at(id), 0o700);
      // Where it was is on disk before it goes: a crash in between leaves it in its place.
      await writeDurably(join(at(id), NOTE), JSON.stringify(trashed));
      await move(path, join(at(id), 'content'));
      return trashed;
    },
    async restore(id) {
      const trashed = await find(id);
      if (await isThere(trashed.path)) {
        throw new BridleError('trash_occupied', `Something else is at ${trashed.path} by now.`, {
          hint: 'Move that away first.',
        });
      }
      await makeFolder(dirname(trashed.path));
      await move(join(at(id), 'content'), trashed.path);
      await rm(at(id), { recursive: true, force: true });
      return trashed;
    },
    async purge(before) {
      const old = (await list()).filter(({ trashedAt }) => trashedAt < before.toISOString());
      for (const { id } of old) await rm(at(id), { recursive: true, force: true });
      return old;
    },
  };
}

/** Undefined when nothing whole lies there: a put that was cut off left its thing in its place. */
async function read(entry: string, id: string): Promise<Trashed | undefined> {
  try {
    const { path, trashedAt } = JSON.parse(await readFile(join(entry, NOTE), 'utf8')) as Partial<Trashed>;
    if (typeof path !== 'string' || typeof trashedAt !== 'string' || !isAbsolute(path)) return undefined;
    return (await isThere(join(entry, 'content'))) ? { id, path, trashedAt } : undefined;
  } catch {
    return undefined;
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Over the border of a disk it is copied whole before the original goes. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    const partial = join(dirname(to), `.${basename(to)}.${randomBytes(6).toString('hex')}`);
    await cp(from, partial, {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      mode: constants.COPYFILE_FICLONE,
    });
    await rename(partial, to);
    await rm(from, { recursive: true });
  }
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
