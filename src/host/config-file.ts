import { type FileHandle, open, stat } from 'node:fs/promises';
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { Reason } from '../contracts/index.ts';
import { BridleError, sha256 } from '../tools/index.ts';

/** Largest configuration file that is read, in bytes. */
export const MAX_CONFIG_BYTES = 1_048_576;

/** Far more than any key needs, and far less than what walking a tree by recursion can take. */
const MAX_DEPTH = 64;

/** A configuration file as read: its tree keeps where everything stands, and keys never become object properties. */
export interface ConfigFile {
  readonly path: string;
  readonly root: Node;
  /** SHA-256 (hex) of the text, so that what was read is what trust is asked for. */
  readonly hash: string;
  /** File and line (from 1) of a node, as a Reason's source. */
  at(node: Node): NonNullable<Reason['source']>;
}

/**
 * Reads a JSON file as people write it: comments, trailing commas and a byte order mark are tolerated.
 *
 * @param path absolute path
 * @param maxBytes for files of other programs, which keep more in them than settings
 * @returns undefined when there is no such file
 * @throws BridleError `config_unreadable`, `config_not_a_file`, `config_too_large`, `config_encoding`,
 *   `config_not_json` (with file, line and column) or `config_not_object`
 */
export async function readConfigFile(path: string, maxBytes = MAX_CONFIG_BYTES): Promise<ConfigFile | undefined> {
  const bytes = await readBytes(path, maxBytes);
  return bytes && parseConfig(path, decode(path, bytes));
}

/** A text file in UTF-8, under the same limits and errors as a configuration. */
export async function readTextFile(path: string, maxBytes: number): Promise<string | undefined> {
  const bytes = await readBytes(path, maxBytes);
  return bytes && decode(path, bytes);
}

/** The part of `readConfigFile` after the bytes; same errors. */
export function parseConfig(path: string, text: string): ConfigFile {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
  } catch (cause) {
    throw new BridleError('config_not_json', `${path} is nested too deeply to be a configuration.`, { cause });
  }
  const first = errors[0];
  if (first) throw notJson(path, text, first);
  if (root && deeperThan(root, MAX_DEPTH)) {
    throw new BridleError('config_not_json', `${path} is nested more than ${MAX_DEPTH} levels deep.`);
  }
  if (root?.type !== 'object') {
    throw new BridleError('config_not_object', `${path} holds ${kindOf(root)}; a JSON object is expected.`);
  }
  const lines = lineStarts(text);
  const at = (node: Node) => ({ file: path, line: lineOf(lines, node.offset) });
  return { path, root, hash: sha256(text), at };
}

function deeperThan(root: Node, limit: number): boolean {
  let level: readonly Node[] = [root];
  // Each value of an object is two nodes below it, as its child is the property.
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit * 2) return true;
    level = level.flatMap(({ children }) => children ?? []);
  }
  return false;
}

async function readBytes(path: string, maxBytes: number): Promise<Buffer | undefined> {
  let handle: FileHandle | undefined;
  try {
    // Asked before opening, because opening a named pipe waits for its writer.
    const { size } = regularFile(path, await stat(path));
    if (size > maxBytes) throw tooLarge(path, maxBytes);
    handle = await open(path, 'r');
    const bytes = Buffer.alloc(Math.min(maxBytes, Math.max(size * 2, MAX_CONFIG_BYTES)) + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = (await handle.read(bytes, length, bytes.length - length)).bytesRead;
    }
    if (length === bytes.length) throw tooLarge(path, maxBytes);
    return bytes.subarray(0, length);
  } catch (cause) {
    if (cause instanceof BridleError) throw cause;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new BridleError('config_unreadable', `${path} can't be read (${code}).`, {
      cause,
      hint: 'Check the file and the permissions of its folder.',
    });
  } finally {
    await handle?.close();
  }
}

function regularFile<T extends { isFile(): boolean; isDirectory(): boolean }>(path: string, stats: T): T {
  if (stats.isFile()) return stats;
  const what = stats.isDirectory() ? 'a folder' : 'not a regular file';
  throw new BridleError('config_not_a_file', `${path} is ${what}; a file is expected there.`);
}

function tooLarge(path: string, maxBytes: number): BridleError {
  return new BridleError('config_too_large', `${path} is larger than ${maxBytes} bytes.`, {
    hint: 'A file of settings this large is most likely another file under that name.',
  });
}

function decode(path: string, bytes: Buffer): string {
  const wrong = (what: string) =>
    new BridleError('config_encoding', `${path} ${what}.`, { hint: 'Save it as UTF-8 and try again.' });
  const [a, b] = bytes;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) throw wrong('is UTF-16, not UTF-8');
  if (bytes.includes(0)) {
    throw wrong(
      a === 0 || b === 0 ? 'looks like UTF-16 without a byte order mark' : 'holds NUL bytes, so it is no text',
    );
  }
  try {
    // The decoder drops a UTF-8 byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw wrong('is not valid UTF-8');
  }
}

const EXPECTED: ReadonlyMap<string, string> = new Map([
  ['InvalidSymbol', 'a JSON value or a key in double quotes was expected'],
  ['InvalidNumberFormat', 'this is not a JSON number'],
  ['PropertyNameExpected', 'a key in double quotes was expected'],
  ['ValueExpected', 'a value was expected'],
  ['ColonExpected', 'a colon was expected after the key'],
  ['CommaExpected', 'a comma or a closing bracket was expected'],
  ['CloseBraceExpected', 'a closing brace } was expected'],
  ['CloseBracketExpected', 'a closing bracket ] was expected'],
  ['EndOfFileExpected', 'the end of the file was expected'],
  ['UnexpectedEndOfComment', 'this comment is not closed'],
  ['UnexpectedEndOfString', 'this string is not closed on its line'],
  ['UnexpectedEndOfNumber', 'this number is not finished'],
  ['InvalidUnicode', 'four hex digits were expected after \\u; a backslash itself is written \\\\'],
  ['InvalidEscapeCharacter', 'this is no JSON escape; a backslash itself is written \\\\'],
  ['InvalidCharacter', 'a character that JSON strings hold only as an escape'],
]);

function notJson(path: string, text: string, error: ParseError): BridleError {
  const lines = lineStarts(text);
  const line = lineOf(lines, error.offset);
  const column = error.offset - (lines[line - 1] ?? 0) + 1;
  const empty = text.trim() === '';
  const what = empty ? 'the file is empty' : (EXPECTED.get(printParseErrorCode(error.error)) ?? 'this is not JSON');
  return new BridleError('config_not_json', `${path}:${line}:${column}: ${what}.`, {
    hint: empty ? 'Write {} or remove the file.' : hintFor(text.slice(error.offset, error.offset + 1)),
  });
}

function hintFor(found: string): string {
  if (found === "'") return 'JSON strings stand in double quotes.';
  if (/[“”„«»‘’]/.test(found)) return 'These are typographic quotes; JSON strings stand in straight double quotes.';
  return 'Comments and trailing commas are fine; everything else must be JSON.';
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function lineOf(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}

/** What a node is, in words for a message. */
export function kindOf(node: Node | undefined): string {
  const words: Readonly<Record<Node['type'], string>> = {
    object: 'an object',
    array: 'a list',
    string: 'a string',
    number: 'a number',
    boolean: 'true or false',
    null: 'null',
    property: 'a property',
  };
  return node ? words[node.type] : 'nothing';
}
