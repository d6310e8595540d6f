import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject, ownMember } from './json-object.ts';
import { subschemasOf } from './schema-walk.ts';

/** Keywords that apply their subschema to the value itself rather than to a part of it. */
const SAME_VALUE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'dependencies',
  'dependentSchemas',
  'else',
  'if',
  'not',
  'oneOf',
  'then',
]);

function byPointer(root: Json, pointer: string): Json | undefined {
  let value: Json | undefined = root;
  for (const segment of pointer.split('/').slice(1)) {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined;
    else value = isJsonObject(value) ? ownMember(value, key) : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}

function byAnchor(root: JsonObject, matches: (schema: JsonObject) => boolean): Json | undefined {
  const stack: JsonObject[] = [root];
  for (let schema = stack.pop(); schema; schema = stack.pop()) {
    if (matches(schema)) return schema;
    for (const [keyword, value] of Object.entries(schema)) {
      for (const [, member] of subschemasOf(keyword, value)) if (isJsonObject(member)) stack.push(member);
    }
  }
  return undefined;
}

/** By the schema that was searched, what was found under a name: a value may be met by many references to the same one. */
const found = new WeakMap<JsonObject, Map<string, Json | undefined>>();

function once(schema: JsonObject, name: string, find: () => Json | undefined): Json | undefined {
  const known = found.get(schema) ?? new Map<string, Json | undefined>();
  found.set(schema, known);
  if (!known.has(name)) known.set(name, find());
  return known.get(name);
}

/** Where local references of each object schema point to: the nearest part with an `$id` of its own, or the root. */
type Documents = ReadonlyMap<JsonObject, JsonObject>;

/** Maps every object schema at a schema position to its document. */
export function documentsOf(root: JsonObject): Documents {
  const documents = new Map<JsonObject, JsonObject>();
  const stack: [JsonObject, JsonObject][] = [[root, root]];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [schema, outer] = next;
    if (documents.has(schema)) continue;
    const own = typeof schema.$id === 'string' && !schema.$id.startsWith('#');
    const document = own ? schema : outer;
    documents.set(schema, document);
    for (const [keyword, value] of Object.entries(schema)) {
      for (const [, member] of subschemasOf(keyword, value)) if (isJsonObject(member)) stack.push([member, document]);
    }
  }
  return documents;
}

/**
 * What a `$ref` means within one schema document: `#`, a JSON Pointer fragment, an anchor, or the `$id` of a part.
 *
 * @param root is not changed afterwards: what was found in it is kept
 * @param document what `#` stands for where the reference is; default the root
 * @returns undefined for what isn't there or lies outside the root
 */
export function resolveLocal(root: JsonObject, ref: string, document: JsonObject = root): Json | undefined {
  const hash = ref.indexOf('#');
  const base = hash < 0 ? ref : ref.slice(0, hash);
  let fragment = hash < 0 ? '' : ref.slice(hash + 1);
  try {
    fragment = decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
  const target =
    base === '' ? document : once(root, `$id ${base}`, () => byAnchor(root, (s) => identifies(s, base, root)));
  if (!isJsonObject(target)) return undefined;
  if (fragment === '') return target;
  if (fragment.startsWith('/')) return byPointer(target, fragment);
  const isNamed = (s: JsonObject) =>
    s.$anchor === fragment || s.$dynamicAnchor === fragment || s.$id === `#${fragment}`;
  return once(target, `$anchor ${fragment}`, () => byAnchor(target, isNamed));
}

/** True when the schema's `$id`, taken relative to the root's, is what `base` names. */
function identifies(schema: JsonObject, base: string, root: JsonObject): boolean {
  if (typeof schema.$id !== 'string') return false;
  if (schema.$id === base) return true;
  const from = `bridle:/${typeof root.$id === 'string' ? root.$id : ''}`;
  const start = typeof root.$id === 'string' && URL.canParse(root.$id) ? root.$id : from;
  if (!URL.canParse(schema.$id, start) || !URL.canParse(base, start)) return false;
  return new URL(schema.$id, start).href === new URL(base, start).href;
}

/** The object schemas that are applied to the same value as this one, one entry an application. */
export function sameValueEdges(root: JsonObject, schema: JsonObject, documents: Documents): readonly JsonObject[] {
  const edges: JsonObject[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if ((keyword === '$ref' || keyword === '$dynamicRef') && typeof value === 'string') {
      const target = resolveLocal(root, value, documents.get(schema));
      if (isJsonObject(target)) edges.push(target);
    } else if (SAME_VALUE.has(keyword)) {
      for (const [, member] of subschemasOf(keyword, value)) if (isJsonObject(member)) edges.push(member);
    }
  }
  return edges;
}
