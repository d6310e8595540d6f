import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, isAbsolute, normalize, resolve } from 'node:path';
import { agreed, type Truth } from './truth.ts';

const MOST_LINKS = 40;
const MOST_CHARACTERS = 4_096;

/**
 * Whether a path lies in a folder, or is it, by real paths: symbolic links are followed, also one that leads nowhere
 * yet, and what doesn't exist is placed below the deepest folder that does.
 *
 * `a/../b` is read both as the file system reads it and as a program does that shortens it first; where the two differ,
 * or only the case of letters tells the paths apart, the answer is `unknown`.
 *
 * @param text as it stands in the arguments; relative to `base`
 * @param base absolute
 */
export function pathInside(text: string, folder: string, base: string): Truth {
  if (!isPlainPath(text) || !isPlainPath(folder)) return 'unknown';
  const whole = isAbsolute(text) ? text : `${base}/${text}`;
  const within = realPath(resolve(base, folder));
  if (within === undefined) return 'unknown';
  return agreed([insideReal(realPath(whole), within), insideReal(realPath(normalize(whole)), within)]);
}

/** A `~`, an address or an unseen character means something to some programs only, so nothing is known of it. */
function isPlainPath(text: string): boolean {
  if (text === '' || text.length > MOST_CHARACTERS || text.startsWith('~')) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a path with one isn't plain
  return !/[\u0000-\u001f\\]|^[a-zA-Z][a-zA-Z0-9+.-]*:|\$\{?[A-Za-z_]|%[0-9a-fA-F]{2}/.test(text);
}

function insideReal(path: string | undefined, folder: string): Truth {
  if (path === undefined) return 'unknown';
  if (isBelow(path, folder)) return 'yes';
  return isBelow(folded(path), folded(folder)) ? 'unknown' : 'no';
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function folded(path: string): string {
  return path.normalize('NFKC').toLowerCase();
}

/** `undefined` when it can't be told, as with a loop of links or a folder that can't be looked into. */
function realPath(absolute: string): string | undefined {
  const todo = absolute.split('/').reverse();
  let links = 0;
  let here = '/';
  let exists = true;
  for (let part = todo.pop(); part !== undefined; part = todo.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      here = dirname(here);
      exists = true;
      continue;
    }
    const next = here === '/' ? `/${part}` : `${here}/${part}`;
    const link: Place = exists ? placeAt(next) : 'missing';
    if (link === 'unreadable') return undefined;
    exists = link !== 'missing';
    if (typeof link === 'object') {
      // What stands there depends on who looks: `/proc/self/cwd` of a server isn't ours.
      if (next.startsWith('/proc/')) return undefined;
      links += 1;
      if (links > MOST_LINKS) return undefined;
      if (isAbsolute(link.to)) here = '/';
      todo.push(...link.to.split('/').reverse());
    } else here = next;
  }
  return here;
}

type Place = { readonly to: string } | 'plain' | 'missing' | 'unreadable';

function placeAt(path: string): Place {
  try {
    return lstatSync(path).isSymbolicLink() ? { to: readlinkSync(path) } : 'plain';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreadable';
  }
}
