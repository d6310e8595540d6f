import type { Json, JsonObject } from '../contracts/index.ts';

/** Narrows anything that was parsed from JSON to an object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The array at hand, or an empty one for anything else. */
export function arrayOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The string at hand, or an empty one for anything else. */
export function stringOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The number at hand, or 0 for anything else. */
export function numberOf(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** A copy that shares nothing with the value, so that nobody can change a reply or a request under another's feet. */
export function copyOf<T extends Json>(value: T): T {
  return copied(value) as T;
}

/** `undefined` where the text isn't JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** By hand, as `structuredClone` takes ten times as long for what is small. */
function copied(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copied);
  const copy: JsonObject = {};
  for (const key in value) {
    const own = copied(value[key] as Json);
    // Assigned, it would become the prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: own, ...FIELD });
    else copy[key] = own;
  }
  return copy;
}
const FIELD = { enumerable: true, configurable: true, writable: true };
