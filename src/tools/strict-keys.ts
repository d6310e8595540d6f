import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject, ownMember } from './json-object.ts';
import { resolveLocal } from './schema-refs.ts';

/** Keywords that hold schemas of the same value, each by a key or in a list. */
const SAME_VALUE = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'];

/**
 * Keys that a schema speaks of, in conditions, combinations and values too, and that an object which takes only these properties
 * could never have: a call that needs one of them could not be made.
 *
 * @param root where references are looked up
 */
export function unlistedKeys(schema: JsonObject, root: JsonObject, properties: Json | undefined): readonly string[] {
  const keys = new Set<string>();
  const done = new Set<JsonObject>();
  const open: Json[] = [schema];
  const named = (names: Json | undefined) => {
    for (const name of Array.isArray(names) ? names : []) if (typeof name === 'string') keys.add(name);
  };
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!isJsonObject(next) || done.has(next)) continue;
    done.add(next);
    named(next.required);
    if (isJsonObject(next.properties)) named(Object.keys(next.properties));
    for (const value of [next.const, ...(Array.isArray(next.enum) ? next.enum : [])]) {
      if (isJsonObject(value)) named(Object.keys(value));
    }
    if (isJsonObject(next.dependentRequired)) for (const names of Object.values(next.dependentRequired)) named(names);
    for (const keyword of SAME_VALUE) {
      const held = next[keyword];
      if (keyword === '$ref') open.push(typeof held === 'string' ? (resolveLocal(root, held) ?? true) : true);
      else if (Array.isArray(held)) open.push(...held);
      else if (!isJsonObject(held)) continue;
      else if (!keyword.startsWith('depend')) open.push(held);
      else {
        for (const member of Object.values(held)) {
          if (Array.isArray(member)) named(member);
          else open.push(member);
        }
      }
    }
  }
  const listed = isJsonObject(properties) ? properties : {};
  return [...keys].filter((key) => ownMember(listed, key) === undefined);
}
