import type { Json } from '../contracts/index.ts';
import { isObject } from './blocks.ts';

/** Most parts of one schema that are looked through. What a larger one declares further down counts as free. */
const MOST_PARTS = 20_000;

const declared = new WeakMap<object, ReadonlySet<string>>();

/** The names that a schema declares for keys, anywhere in it: its author wrote these, so no argument has chosen them. */
export function declaredKeys(schema: Json): ReadonlySet<string> {
  if (typeof schema !== 'object' || schema === null) return new Set();
  const known = declared.get(schema);
  if (known) return known;
  const names = new Set<string>();
  const open: Json[] = [schema];
  let parts = 0;
  for (let next = open.pop(); next !== undefined && parts < MOST_PARTS; next = open.pop()) {
    parts += 1;
    if (typeof next !== 'object' || next === null) continue;
    if (isObject(next) && isObject(next.properties)) for (const name of Object.keys(next.properties)) names.add(name);
    // One at a time: a list may be longer than a call may have arguments.
    for (const part of Object.values(next)) open.push(part);
  }
  declared.set(schema, names);
  return names;
}

/** A key that the caller chose, and the JSON Pointer (RFC 6901) of what stands under it. */
export interface FreeKey {
  readonly pointer: string;
  readonly key: string;
}

/**
 * The keys of the arguments that no schema declares.
 *
 * @param most how many are wanted; `whole` is false when there were more
 */
export function freeKeysOf(
  args: Json,
  isDeclared: ReadonlySet<string>,
  most: number,
): { readonly keys: readonly FreeKey[]; readonly whole: boolean } {
  const keys: FreeKey[] = [];
  const open: { readonly pointer: string; readonly value: Json }[] = [{ pointer: '', value: args }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { pointer, value } = next;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, child] of Object.entries(value)) {
      const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (!Array.isArray(value) && !isDeclared.has(key)) {
        if (keys.length === most) return { keys, whole: false };
        keys.push({ pointer: at, key });
      }
      if (typeof child === 'object' && child !== null) open.push({ pointer: at, value: child });
    }
  }
  return { keys, whole: true };
}
