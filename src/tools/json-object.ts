import type { Json, JsonObject } from '../contracts/index.ts';

/** True for a JSON object: not an array, not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of a foreign object by a foreign key, never an inherited one (`constructor`, `__proto__`). */
export function ownMember(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** A string member, or undefined when it is missing or of another type. */
export function stringMember(object: JsonObject, key: string): string | undefined {
  const value = ownMember(object, key);
  return typeof value === 'string' ? value : undefined;
}

/**
 * The value as plain JSON: what `JSON.stringify` would send and `JSON.parse` read back.
 *
 * @throws TypeError when it has no JSON form (a function, a BigInt, a cycle)
 */
export function toJson(value: unknown): Json {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`${typeof value} has no JSON form`);
  return JSON.parse(text) as Json;
}

/** One segment of a JSON Pointer (RFC 6901), escaped. */
export function pointerSegment(key: string | number): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1');
}
