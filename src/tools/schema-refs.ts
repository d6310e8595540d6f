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

/**
 * What a `$ref` means within one schema document: `#`, a JSON Pointer fragment, an anchor, or the `$id` of a part.
 *
 * @returns undefined for what isn't there or lies outside the document
 */
export function resolveLocal(root: JsonObject, ref: string): Json | undefined {
  const hash = ref.indexOf('#');
  const base = hash < 0 ? ref : ref.slice(0, hash);
  let fragment = hash < 0 ? '' : ref.slice(hash + 1);
  try {
    fragment = decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
  const document = base === '' ? root : byAnchor(root, (schema) => schema.$id === base);
  if (!isJsonObject(document)) return undefined;
  if (fragment === '') return document;
  if (fragment.startsWith('/')) return byPointer(document, fragment);
  return byAnchor(document, (s) => s.$anchor === fragment || s.$dynamicAnchor === fragment || s.$id === `#${fragment}`);
}

/** The object schemas that are applied to the same value as this one, one entry an application. */
export function sameValueEdges(root: JsonObject, schema: JsonObject): readonly JsonObject[] {
  const edges: JsonObject[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if ((keyword === '$ref' || keyword === '$dynamicRef') && typeof value === 'string') {
      const target = resolveLocal(root, value);
      if (isJsonObject(target)) edges.push(target);
    } else if (SAME_VALUE.has(keyword)) {
      for (const [, member] of subschemasOf(keyword, value)) if (isJsonObject(member)) edges.push(member);
    }
  }
  return edges;
}
