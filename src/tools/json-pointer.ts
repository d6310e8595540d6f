import type { Json } from '../contracts/index.ts';

/**
 * Resolves a JSON Pointer (RFC 6901) in its string form. `undefined` when the pointer is malformed or names nothing.
 *
 * @param pointer `''` for the whole document, else `/` before each reference token, `~0` for `~` and `~1` for `/`
 */
export function resolvePointer(document: Json, pointer: string): Json | undefined {
  if (pointer === '') return document;
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  let here: Json | undefined = document;
  for (const token of pointer.slice(1).split('/')) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    here = child(here, key);
    if (here === undefined) return undefined;
  }
  return here;
}

function child(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return /^(?:0|[1-9][0-9]*)$/.test(key) ? value[Number(key)] : undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** A value that holds no others, and where it stands. */
export interface Leaf {
  readonly pointer: string;
  readonly value: string | number | boolean | null;
}

/**
 * The leaves of a JSON value in document order. Empty objects and lists have none.
 *
 * @param most how many are wanted; `whole` is false when there were more
 */
export function leavesOf(document: Json, most: number): { readonly leaves: readonly Leaf[]; readonly whole: boolean } {
  const leaves: Leaf[] = [];
  // A stack, since arguments may be nested deeper than calls may.
  const open: { readonly pointer: string; readonly value: Json }[] = [{ pointer: '', value: document }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { pointer, value } = next;
    if (typeof value !== 'object' || value === null) {
      if (leaves.length === most) return { leaves, whole: false };
      leaves.push({ pointer, value });
      continue;
    }
    const inside = Object.entries(value).map(([key, child]) => ({
      pointer: `${pointer}/${escaped(key)}`,
      value: child,
    }));
    for (let at = inside.length - 1; at >= 0; at -= 1) open.push(inside[at] as (typeof inside)[number]);
  }
  return { leaves, whole: true };
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Before the pointer of what a key leads to, where the key itself is meant. No pointer begins so (RFC 6901). */
const KEY = 'key:';

/** Stands for the key above a place, beside the places of values. */
export function keyAt(pointer: string): string {
  return KEY + pointer;
}
