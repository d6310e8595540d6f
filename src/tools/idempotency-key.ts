import type { Json, JsonObject } from '../contracts/index.ts';
import { canonicalJson, sha256 } from './canonical.ts';
import { isJsonObject, ownMember } from './json-object.ts';
import { resolvePointer } from './json-pointer.ts';

/** The member of an MCP tool's `_meta` that says which arguments make two calls the same act. */
export const IDEMPOTENCY_KEY = 'bridle/idempotencyKey';

const MOST_POINTERS = 32;
const LONGEST_POINTER = 1_000;
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** JSON Pointers (RFC 6901) into a call's arguments: at least one, at most 32. */
export function arePointers(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MOST_POINTERS &&
    value.every((one) => typeof one === 'string' && one.length <= LONGEST_POINTER && POINTER.test(one))
  );
}

/**
 * The key of a call out of its arguments: equal where all the named values are equal. Where one of them isn't given the
 * call has none, since nobody said then which act it is.
 */
export function keyFromPointers(pointers: readonly string[]): (args: Json) => string | null {
  return (args) => {
    const values: Json[] = [];
    for (const pointer of pointers) {
      const value = resolvePointer(args, pointer) ?? null;
      if (value === null) return null;
      values.push(value);
    }
    return sha256(canonicalJson(values));
  };
}

/** What the definition of a server's tool says of it; `unreadable` for anything but a list of pointers. */
export function pointersFromMeta(entry: JsonObject): readonly string[] | 'unreadable' | undefined {
  const meta = ownMember(entry, '_meta');
  const said = isJsonObject(meta) ? ownMember(meta, IDEMPOTENCY_KEY) : undefined;
  if (said === undefined) return undefined;
  return arePointers(said) ? said : 'unreadable';
}
