import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';

/** Keywords whose value is one schema. */
const ONE: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
/** Keywords whose value is a list of schemas. */
const LIST: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
/** Keywords whose value maps names of the author's choice to schemas. */
const MAP: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** How a keyword holds subschemas, if it does; `items` and `dependencies` do it in more than one way. */
export function holds(keyword: string): 'one' | 'list' | 'map' | 'items' | 'dependencies' | null {
  if (ONE.has(keyword)) return 'one';
  if (LIST.has(keyword)) return 'list';
  if (MAP.has(keyword)) return 'map';
  return keyword === 'items' || keyword === 'dependencies' ? keyword : null;
}

/** Subschemas held by one keyword, each with its path below the holder. */
export function subschemasOf(keyword: string, value: Json): readonly (readonly [path: readonly string[], Json])[] {
  const kind = holds(keyword);
  if (kind === null) return [];
  if (Array.isArray(value)) {
    return kind === 'list' || kind === 'items' ? value.map((member, i) => [[keyword, String(i)], member]) : [];
  }
  if (kind === 'one' || kind === 'items') return [[[keyword], value]];
  if (kind === 'list' || !isJsonObject(value)) return [];
  const members = Object.entries(value).filter(([, member]) => kind === 'map' || !Array.isArray(member));
  return members.map(([name, member]) => [[keyword, name], member]);
}

/**
 * Rebuilds a schema from the leaves up; only schema positions are visited, so a property that is called `pattern`, or
 * an example that looks like a schema, is left alone.
 *
 * @param change gets each object schema after its subschemas were changed, and the keyword that holds it
 */
export function mapSchema(
  schema: Json,
  change: (schema: JsonObject, heldBy: string | null) => Json,
  heldBy: string | null = null,
): Json {
  if (!isJsonObject(schema)) return schema;
  const entries = Object.entries(schema).map(([keyword, value]): [string, Json] => {
    const kind = holds(keyword);
    if (kind === null) return [keyword, value];
    if (Array.isArray(value)) {
      const isList = kind === 'list' || kind === 'items';
      return [keyword, isList ? value.map((member) => mapSchema(member, change, keyword)) : value];
    }
    if (kind === 'one' || kind === 'items') return [keyword, mapSchema(value, change, keyword)];
    if (!isJsonObject(value) || kind === 'list') return [keyword, value];
    return [keyword, Object.fromEntries(Object.entries(value).map(([k, v]) => [k, mapSchema(v, change, keyword)]))];
  });
  return change(Object.fromEntries(entries), heldBy);
}
