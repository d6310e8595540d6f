import { constants } from 'node:fs';
import { access as mayBe, realpath, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { BridleError, isBridleError } from '../tools/index.ts';
import { replaceFile } from './replace-file.ts';

export interface RewriteOptions {
  /**
   * What a new file is. `private`: the person's own, 0600. `shared`: what the umask says. `managed`: an administrator's;
   * none is made. A file that is there keeps its mode, and its owner as far as that is allowed.
   */
  readonly access: 'private' | 'shared' | 'managed';
  /** The folder that the file may not lead out of by a symbolic link. */
  readonly within?: string;
}

/**
 * Writes a file that people own, whole or not at all. A symbolic link stays one.
 *
 * @param path absolute; its folder has to exist
 * @throws BridleError `config_not_written`
 */
export async function rewriteFile(path: string, text: string, { access, within }: RewriteOptions): Promise<void> {
  try {
    const target = await targetOf(path, within);
    const before = await stat(target).catch((error) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    // Moving a new file into place would also replace one that may not be written.
    if (before) await mayBe(target, constants.W_OK);
    await replaceFile(target, text, before ?? (access === 'private' ? 0o600 : 0o666));
  } catch (cause) {
    throw notWritten(path, access, cause);
  }
}

/**
 * The file behind a symbolic link, as a folder of dotfiles has them; moving a file there would replace the link.
 *
 * @throws BridleError `config_not_written` when it leads out of the folder `within`
 */
export async function targetOf(path: string, within: string | undefined): Promise<string> {
  let target = path;
  try {
    target = await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  if (within !== undefined && relative(within, target).startsWith('..')) {
    throw new BridleError('config_not_written', `${path} is a symbolic link to ${target}, outside of this project.`, {
      hint: 'Nothing was written. Replace the link by a file, or edit the other file itself.',
    });
  }
  return target;
}

/** What to say of a file that the system doesn't let us write; errors of ours stay as they are. */
export function notWritten(path: string, access: RewriteOptions['access'], cause: unknown): BridleError {
  if (isBridleError(cause)) return cause;
  const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const isManaged = access === 'managed';
  const whose = isManaged ? ', which belongs to an administrator,' : '';
  return new BridleError('config_not_written', `${path}${whose} can't be written (${why}).`, {
    cause,
    hint: isManaged
      ? 'It is as it was. Ask whoever administers this machine to do this.'
      : 'Check the permissions of the file and of its folder; it is as it was.',
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
