import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it, as `mkdir -p`. Node's own recursive form never returns where nothing can be made,
 * as in /proc.
 *
 * @param mode of the folders that are made; default 0o777, less the umask
 * @throws the file system's error, with its `code`
 */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  const error = await tryMake(folder, mode);
  if (error === undefined || error.code === 'EEXIST') return;
  if (error.code !== 'ENOENT' || dirname(folder) === folder) throw error;
  await makeFolder(dirname(folder), mode);
  const again = await tryMake(folder, mode);
  if (again !== undefined && again.code !== 'EEXIST') throw again;
}

function tryMake(folder: string, mode: number | undefined): Promise<NodeJS.ErrnoException | undefined> {
  return mkdir(folder, mode === undefined ? {} : { mode }).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
}
