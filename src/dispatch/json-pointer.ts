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
