import { open, realpath, stat } from 'node:fs/promises';
import { extname, isAbsolute, relative, resolve, sep } from 'node:path';
import { BridleError, printable } from '../../tools/index.ts';
import type { ContentPiece } from './content-block.ts';

/** Largest file that is read, in bytes: that of a PDF. */
const MOST_BYTES = 20 * 1024 * 1024;

const TYPES: ReadonlyMap<string, string> = new Map([
  ['.pdf', 'application/pdf'],
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
  ['.webp', 'image/webp'],
]);

/** What stands where a path points. */
export type LocalFile = { readonly kind: 'none' | 'folder' } | { readonly kind: 'file'; readonly item: ContentPiece };

/**
 * Reads a file of the project. Links are followed first: a file counts as the project's by where it really is.
 *
 * @param path as written; relative to `root`, or absolute
 * @param root the project's folder
 * @throws BridleError `file_outside_project`, `content_too_large`, `content_unsupported`, `content_not_read`
 */
export async function readLocalFile(path: string, root: string): Promise<LocalFile> {
  if (path.includes('\0')) return { kind: 'none' };
  const base = await realpath(root);
  let real: string;
  try {
    real = await realpath(resolve(base, path));
  } catch {
    return { kind: 'none' };
  }
  const within = relative(base, real);
  if (within === '') return { kind: 'folder' };
  if (within === '..' || within.startsWith(`..${sep}`) || isAbsolute(within)) {
    throw new BridleError('file_outside_project', `${printable(path)} is not in this project's folder.`, {
      hint: 'Only files of the project can be named with @. Copy it here, or connect a server that reads files.',
    });
  }
  return readInside(real, within);
}

async function readInside(real: string, within: string): Promise<LocalFile> {
  const label = printable(within);
  try {
    // Before it is opened: opening a pipe waits for somebody who writes to it.
    const there = await stat(real);
    if (!there.isFile()) return { kind: there.isDirectory() ? 'folder' : 'none' };
    const file = await open(real, 'r');
    try {
      const stats = await file.stat();
      if (stats.size > MOST_BYTES) {
        throw new BridleError(
          'content_too_large',
          `${label} has ${stats.size} bytes; at most ${MOST_BYTES} are read.`,
          {
            hint: 'Name a smaller file, or let the agent read it with a tool. Nothing was sent.',
          },
        );
      }
      return { kind: 'file', item: itemOf(within, await file.readFile()) };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof BridleError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new BridleError('content_not_read', `${label} can't be read: ${printable(why)}`, {
      hint: 'Check its permissions. Nothing was sent.',
    });
  }
}

function itemOf(within: string, bytes: Buffer): ContentPiece {
  const label = printable(within);
  const type = TYPES.get(extname(within).toLowerCase());
  const known = { label, server: null, uri: within };
  // A name ending says little: what reads as text is text.
  const text = textOf(bytes);
  if (text !== undefined) return { ...known, text };
  if (type !== undefined) return { ...known, mimeType: type, blob: bytes.toString('base64') };
  return { ...known, mimeType: 'application/octet-stream', blob: '' };
}

/** Undefined for bytes that are no text in UTF-8. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.startsWith('%PDF-') ? undefined : text;
  } catch {
    return undefined;
  }
}
