import { realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BridleError } from '../tools/index.ts';

/** What marks the folder of a project. */
const MARKS = ['.mcp.json', 'bridle.json', '.git'];

/**
 * The project's folder: the nearest folder from `cwd` upwards that holds `.mcp.json`, `bridle.json` or `.git`, else
 * `cwd` itself. Symbolic links are resolved first, so that trust is about the folder and not about a way to it.
 *
 * @returns an absolute path without symbolic links
 * @throws BridleError `config_no_folder` when `cwd` isn't there
 */
export async function findProjectRoot(cwd: string): Promise<string> {
  let start: string;
  try {
    start = await realpath(cwd);
  } catch (cause) {
    throw new BridleError('config_no_folder', `There is no folder ${cwd}.`, { cause });
  }
  for (let folder = start; ; folder = dirname(folder)) {
    for (const mark of MARKS) if (await exists(join(folder, mark))) return folder;
    if (folder === dirname(folder)) return start;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
