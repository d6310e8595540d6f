import type { Json } from '../contracts/index.ts';
import { isJsonObject, pointerSegment, printable } from '../tools/index.ts';

/** One place at which two values differ; a side without the place has undefined. */
export interface Difference {
  /** RFC 6901. */
  readonly pointer: string;
  readonly recorded: Json | undefined;
  readonly now: Json | undefined;
}

/** Where two values differ, from the beginning. The order of an object's members doesn't count. */
export function differences(recorded: Json | undefined, now: Json | undefined, pointer = ''): Difference[] {
  if (Array.isArray(recorded) && Array.isArray(now)) {
    const length = Math.max(recorded.length, now.length);
    return Array.from({ length }, (_, at) => differences(recorded[at], now[at], `${pointer}/${at}`)).flat();
  }
  if (isJsonObject(recorded) && isJsonObject(now)) {
    const keys = new Set([...Object.keys(recorded), ...Object.keys(now)]);
    return [...keys].flatMap((key) =>
      differences(own(recorded, key), own(now, key), `${pointer}/${pointerSegment(key)}`),
    );
  }
  return recorded === now ? [] : [{ pointer, recorded, now }];
}

function own(value: { readonly [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

const MOST_SHOWN = 3;
const MOST_CHARS = 160;
/** Characters that stand before the first difference of two texts. */
const CONTEXT = 40;

/** The first differences in lines that a person can read. */
export function differenceText(found: readonly Difference[]): string {
  const lines = found.slice(0, MOST_SHOWN).flatMap(({ pointer, recorded, now }) => {
    const from = typeof recorded === 'string' && typeof now === 'string' ? firstDifference(recorded, now) : 0;
    return [
      `  at ${pointer === '' ? '/' : printable(pointer, { maxLength: MOST_CHARS })}`,
      `    recorded: ${shown(recorded, from)}`,
      `    now:      ${shown(now, from)}`,
    ];
  });
  const more = found.length - MOST_SHOWN;
  return [...lines, ...(more > 0 ? [`  and in ${more} more ${more === 1 ? 'place' : 'places'}`] : [])].join('\n');
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return Math.max(0, at - CONTEXT);
}

function shown(value: Json | undefined, from: number): string {
  if (value === undefined) return '(nothing)';
  const text = typeof value === 'string' ? value.slice(from) : JSON.stringify(value);
  const quoted = typeof value === 'string' ? JSON.stringify(text.slice(0, 2 * MOST_CHARS)) : text;
  return `${from > 0 ? '…' : ''}${printable(quoted, { maxLength: MOST_CHARS })}`;
}
