import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  applyEdits,
  createScanner,
  type Edit,
  type FormattingOptions,
  findNodeAtLocation,
  modify,
  type Node,
  parseTree,
} from 'jsonc-parser';
import type { Json } from '../contracts/index.ts';
import { makePrivateDir } from '../store/index.ts';
import { BridleError, canonicalJson } from '../tools/index.ts';
import { type ConfigFile, parseConfig, readConfigFile } from './config-file.ts';
import { jsonOf } from './config-tree.ts';
import { withLock } from './replace-file.ts';
import { notWritten, type RewriteOptions, rewriteFile, targetOf } from './rewrite-file.ts';

/** One value to put in, or with `undefined` to take out. */
export interface ConfigEdit {
  readonly path: readonly string[];
  readonly value: Json | undefined;
  /** The value is put at the end of the list at `path`, which is made when it isn't there. */
  readonly append?: true;
}

export interface EditOptions extends RewriteOptions {
  /** What a new file begins with. Default `{}`. */
  readonly initial?: string;
}

/**
 * Changes a configuration file and leaves the rest of it as it is: comments, order, blanks, a byte order mark. Written
 * whole or not at all; two processes lose nothing of each other.
 *
 * @param path absolute; made when it isn't there, with its folders (0700) where it is private
 * @param plan what to change, given the file as it is (undefined: there is none); no edits leave it untouched
 * @returns whether something was written
 * @throws BridleError `config_not_written`, and what `readConfigFile` and `plan` throw
 */
export async function editConfig(
  path: string,
  options: EditOptions,
  plan: (file: ConfigFile | undefined) => readonly ConfigEdit[],
): Promise<boolean> {
  try {
    if (options.access === 'private') await makePrivateDir(dirname(path));
    const target = await targetOf(path, options.within);
    return await withLock(join(dirname(target), `.${basename(target)}.lock`), async () => {
      const edits = plan(await readConfigFile(target));
      if (edits.length === 0) return false;
      const before = await textAt(target);
      await rewriteFile(target, edited(target, before ?? options.initial ?? '{}\n', edits), options);
      return true;
    });
  } catch (cause) {
    throw notWritten(path, options.access, cause);
  }
}

async function textAt(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/**
 * The text with the edits made, checked by reading it again.
 *
 * @throws BridleError `config_not_written` when the result isn't what was asked for, as in a file with a key that stands
 *   twice
 */
export function edited(path: string, before: string, edits: readonly ConfigEdit[]): string {
  const mark = before.startsWith('\uFEFF') ? '\uFEFF' : '';
  let text = before.slice(mark.length);
  if (text.trim() === '') text = '{}\n';
  for (const edit of edits) text = withEdit(text, edit);
  const { root } = parseConfig(path, text);
  for (const [index, { path: keys, value, append }] of edits.entries()) {
    const isChangedAgain = edits.slice(index + 1).some((later) => keys.every((key, at) => later.path[at] === key));
    const node = findNodeAtLocation(root, [...keys]);
    const is = append === true ? node?.children?.findLast((child) => same(child, value)) : node;
    if ((!isChangedAgain && !same(is, value)) || standsTwice(root, keys)) {
      throw new BridleError('config_not_written', `${path} can't be changed at ${keys.join(' › ')}.`, {
        hint: 'A key may stand twice there. Edit the file by hand; it is as it was.',
      });
    }
  }
  return mark + text;
}

function same(node: Node | undefined, value: Json | undefined): boolean {
  if (node === undefined || value === undefined) return node === undefined && value === undefined;
  return canonicalJson(jsonOf(node)) === canonicalJson(value);
}

function withEdit(text: string, { path, value, append }: ConfigEdit): string {
  const formattingOptions = styleOf(text);
  if (value === undefined) return without(text, path);
  const after = afterComment(text, path, value, append === true);
  if (after !== undefined) return after;
  const segments = append === true ? [...path, -1] : [...path];
  return applyEdits(text, modify(text, segments, value, { formattingOptions, isArrayInsertion: append === true }));
}

/**
 * Takes a member out with its line and the comment on it; comments on other lines stay. A comma that would then stand at
 * the end goes too, as other programs that read the file may not take it.
 */
function without(text: string, path: readonly string[]): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const member = root && findNodeAtLocation(root, [...path])?.parent;
  const siblings = member?.parent?.children;
  if (!member || !siblings) return text;
  const before = siblings[siblings.indexOf(member) - 1];
  let start = member.offset;
  let end = start + member.length;
  const edits: Edit[] = [];
  const own = commaAfter(text, end);
  if (own === undefined) {
    const comma = before && commaAfter(text, before.offset + before.length);
    if (comma !== undefined) edits.push({ offset: comma, length: 1, content: '' });
  } else if (/^[ \t]*$/.test(text.slice(end, own))) end = own + 1;
  else edits.push({ offset: own, length: 1, content: '' });
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const rest = /^[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)?[ \t]*(?:\r?\n|$)/.exec(text.slice(end))?.[0];
  if (rest !== undefined && /^[ \t]*$/.test(text.slice(lineStart, start))) {
    start = lineStart;
    end += rest.length;
  } else end += /^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0;
  return applyEdits(text, [...edits, { offset: start, length: end - start, content: '' }]);
}

/** Where the comma behind a value stands, if there is one before the next value or bracket. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  return scanner.scan() === COMMA ? scanner.getTokenOffset() : undefined;
}

/** `SyntaxKind.CommaToken`: an enum that exists for the compiler alone. */
const COMMA = 5;

/**
 * A new last member goes behind a comment that stands on the line of the one before, which it speaks of. Undefined where
 * there is no such comment.
 */
function afterComment(text: string, path: readonly string[], value: Json, append: boolean): string | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const parentPath = append ? path : path.slice(0, -1);
  const parent = root && findNodeAtLocation(root, [...parentPath]);
  const key = append ? undefined : path.at(-1);
  const last = parent?.children?.at(-1);
  if (!parent || !last || (key !== undefined && (parent.type !== 'object' || findNodeAtLocation(parent, [key]))))
    return undefined;
  const end = last.offset + last.length;
  const [all, comma, comment] =
    /^([ \t]*,)?([ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)[ \t]*)(?=\r?\n)/.exec(text.slice(end)) ?? [];
  const lineStart = text.lastIndexOf('\n', last.offset - 1) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? '';
  if (all === undefined || comment === undefined) return undefined;
  const { insertSpaces, tabSize, eol = '\n' } = styleOf(text);
  const body = JSON.stringify(value, null, insertSpaces ? tabSize : '\t').replaceAll('\n', `${eol}${indent}`);
  const member = key === undefined ? body : `${JSON.stringify(key)}: ${body}`;
  const before = `${text.slice(0, end)},${comment}${eol}${indent}${member}`;
  return `${before}${comma === undefined ? '' : ','}${text.slice(end + all.length)}`;
}

/** Whether one of the keys on the way stands more than once in its object: then it is open which one counts. */
function standsTwice(root: Node, keys: readonly string[]): boolean {
  let node: Node | undefined = root;
  for (const key of keys) {
    if (node?.type !== 'object') return false;
    const found: readonly Node[] = (node.children ?? []).filter(({ children }) => children?.[0]?.value === key);
    if (found.length > 1) return true;
    node = found[0]?.children?.[1];
  }
  return false;
}

function styleOf(text: string): FormattingOptions {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  const insertSpaces = !indent.startsWith('\t');
  return { insertSpaces, tabSize: insertSpaces ? indent.length : 1, eol: text.includes('\r\n') ? '\r\n' : '\n' };
}
