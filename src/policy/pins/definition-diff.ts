import type { Json, JsonObject } from '../../contracts/index.ts';
import { canonicalJson, printable } from '../../tools/index.ts';

const MOST_LINES = 40;
const MOST_CHARS = 300;
/** How much of what is the same is shown before the first difference. */
const LEAD = 40;

/**
 * What is different between two definitions, one line a place, each with its JSON Pointer (RFC 6901): for the person who
 * has to say whether the new one is all right. Safe to show.
 *
 * @returns at most 41 lines; the last one says how many were left out
 */
export function definitionDiff(before: Json, after: Json): readonly string[] {
  const lines: string[] = [];
  walk('', before, after, lines);
  if (lines.length <= MOST_LINES) return lines;
  return [...lines.slice(0, MOST_LINES), `and ${lines.length - MOST_LINES} more`];
}

function walk(at: string, before: Json | undefined, after: Json | undefined, lines: string[]): void {
  if (before !== undefined && after !== undefined && canonicalJson(before) === canonicalJson(after)) return;
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    for (const key of [...keys].sort()) walk(`${at}/${escaped(key)}`, own(before, key), own(after, key), lines);
    return;
  }
  const place = at === '' ? 'the definition' : printable(at, { maxLength: MOST_CHARS });
  if (before === undefined) lines.push(`${place} is new: ${shown(after)}`);
  else if (after === undefined) lines.push(`${place} is gone: ${shown(before)}`);
  else {
    const from = typeof before === 'string' && typeof after === 'string' ? firstDifference(before, after) - LEAD : 0;
    lines.push(`${place} was ${shown(before, from)}, is ${shown(after, from)}`);
  }
}

/** Where only the end of a long text differs, its beginning says nothing. */
function shown(value: Json | undefined, from = 0): string {
  const text = typeof value === 'string' && from > 0 ? `…${value.slice(from)}` : value;
  return printable(JSON.stringify(text) ?? '', { maxLength: MOST_CHARS });
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
