import type { Json } from '../../contracts/index.ts';

/** The two parts of a Markdown file that begins with YAML between two lines of `---`. */
interface Parts {
  readonly front: string;
  readonly body: string;
}

export interface FrontMatter {
  /** By key; keys from outside index no object. */
  readonly values: ReadonlyMap<string, Json>;
  readonly body: string;
  /** Keys whose values are no YAML, so that they were taken as the text that stands there. */
  readonly asText: readonly string[];
  /** Keys that stand twice; the last one counts. */
  readonly twice: readonly string[];
}

/** Line (from 1) on which the first key stands: the opening `---` is line 1. */
const FIRST_LINE = 2;
const KEY = /^([A-Za-z_][\w-]*)[ \t]*:(?=[ \t]|$)/;

/**
 * Reads the front matter of a Markdown file as other hosts do: each key at the margin is read as YAML of its own, and a
 * value that is none, such as a description with a colon in it, is taken as text. Aliases and tags are not followed.
 *
 * @returns undefined when the file doesn't begin with front matter, or it isn't closed
 */
export async function readFrontMatter(text: string): Promise<FrontMatter | undefined> {
  const parts = split(text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n'));
  if (!parts) return undefined;
  const { parseDocument } = await import('yaml');
  const values = new Map<string, Json>();
  const asText: string[] = [];
  const twice: string[] = [];
  for (const { key, written } of entriesOf(parts.front)) {
    if (values.has(key)) twice.push(key);
    const document = parseDocument(written, { schema: 'core', version: '1.2', logLevel: 'silent' });
    const isYaml = document.errors.length === 0 && document.warnings.length === 0;
    const value = isYaml ? valueAt(() => document.toJS({ maxAliasCount: 0 }), key) : undefined;
    if (value === undefined) asText.push(key);
    values.set(key, value ?? asWritten(written));
  }
  return { values, body: parts.body, asText, twice };
}

/** Line (from 1) of a key in a file with front matter, for a message. */
export function lineOfKey(text: string, key: string): number {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => KEY.exec(line)?.[1] === key);
  return at < 0 ? FIRST_LINE : at + 1;
}

function split(text: string): Parts | undefined {
  const [, front, body] = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n([\s\S]*))?$/.exec(text) ?? [];
  return front === undefined && body === undefined ? undefined : { front: front ?? '', body: body ?? '' };
}

/** The lines of each key at the margin: its own, and those below until the next. */
function entriesOf(front: string): readonly { readonly key: string; readonly written: string }[] {
  const entries: { key: string; lines: string[] }[] = [];
  for (const line of front.split('\n')) {
    const key = KEY.exec(line)?.[1];
    if (key !== undefined) entries.push({ key, lines: [line] });
    else entries.at(-1)?.lines.push(line);
  }
  return entries.map(({ key, lines }) => ({ key, written: lines.join('\n') }));
}

/** The value of the one key; undefined when it can't be had. */
function valueAt(read: () => unknown, key: string): Json | undefined {
  try {
    const object = read();
    if (typeof object !== 'object' || object === null || !Object.hasOwn(object, key)) return undefined;
    // As JSON, so that nothing but what a file can say comes through.
    return JSON.parse(JSON.stringify((object as { readonly [name: string]: unknown })[key] ?? null)) as Json;
  } catch {
    return undefined;
  }
}

function asWritten(written: string): string {
  return written.slice(written.indexOf(':') + 1).trim();
}
