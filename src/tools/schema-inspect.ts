import type { Json, JsonObject, Reason } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';
import { cutAt } from './printable.ts';
import { documentsOf, resolveLocal, sameValueEdges } from './schema-refs.ts';
import { holds, subschemasOf } from './schema-walk.ts';

/**
 * Caps on a schema from outside. Of 1,282 published definitions the largest is 5 KB, 10 levels deep, with 87 objects
 * and an enum of 169: each cap is far above what tools need and far below what hurts.
 */
export const SCHEMA_CAPS = { depth: 64, bytes: 256 * 1024, enum: 5_000, subschemas: 1_000, branches: 20_000 } as const;

type Kind = 'string' | 'count' | 'number' | 'boolean' | 'strings' | 'list' | 'schema' | 'schemas' | 'map' | 'names';

/** What the value of each keyword that holds no schema has to be. Unknown keywords are annotations and free. */
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...(['$ref', '$dynamicRef', '$id', '$anchor', '$dynamicAnchor', 'pattern', 'format'] as const).map(
    (k): [string, Kind] => [k, 'string'],
  ),
  ...(
    [
      'maxLength',
      'minLength',
      'maxItems',
      'minItems',
      'maxProperties',
      'minProperties',
      'maxContains',
      'minContains',
    ] as const
  ).map((k): [string, Kind] => [k, 'count']),
  ...(['minimum', 'maximum', 'multipleOf'] as const).map((k): [string, Kind] => [k, 'number']),
  ['uniqueItems', 'boolean'],
  ['enum', 'list'],
  ['dependentRequired', 'names'],
]);

/** And of those that do, by how they hold it. */
const HOLDERS: ReadonlyMap<unknown, Kind> = new Map<unknown, Kind>([
  ['one', 'schema'],
  ['list', 'schemas'],
  ['map', 'map'],
]);

const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

const isSchema = (v: Json): boolean => isJsonObject(v) || typeof v === 'boolean';
const isStrings = (v: Json): boolean => Array.isArray(v) && v.every((s) => typeof s === 'string');

const FITS: Readonly<Record<Kind, readonly [expected: string, test: (value: Json) => boolean]>> = {
  string: ['text', (v) => typeof v === 'string'],
  count: ['a whole number of at least 0', (v) => typeof v === 'number' && Number.isInteger(v) && v >= 0],
  number: ['a number', (v) => typeof v === 'number'],
  boolean: ['true or false', (v) => typeof v === 'boolean'],
  strings: ['a list of names', isStrings],
  list: ['a list with at least one value', (v) => Array.isArray(v) && v.length > 0],
  schema: ['a schema', isSchema],
  schemas: ['a list of schemas', (v) => Array.isArray(v) && v.length > 0 && v.every(isSchema)],
  map: ['an object of schemas', (v) => isJsonObject(v) && Object.values(v).every(isSchema)],
  names: ['an object of lists of names', (v) => isJsonObject(v) && Object.values(v).every(isStrings)],
};

function reason(code: string, text: string): Reason {
  return { room: 'tools', code, text };
}

/** Depth and enum caps over the whole value, without recursion, so that no depth can exhaust the stack. */
function overCaps(schema: Json): Reason | null {
  const stack: [Json, number][] = [[schema, 1]];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [value, depth] = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > SCHEMA_CAPS.depth) {
      return reason('schema_too_deep', `Its schema is nested more than ${SCHEMA_CAPS.depth} levels deep.`);
    }
    if (!Array.isArray(value) && Array.isArray(value.enum) && value.enum.length > SCHEMA_CAPS.enum) {
      return reason(
        'schema_enum_too_long',
        `Its schema has an enum of ${value.enum.length} values; at most ${SCHEMA_CAPS.enum}.`,
      );
    }
    for (const member of Object.values(value)) stack.push([member, depth + 1]);
  }
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes <= SCHEMA_CAPS.bytes) return null;
  return reason('schema_too_large', `Its schema is ${bytes} bytes; at most ${SCHEMA_CAPS.bytes}.`);
}

function where(path: readonly string[]): string {
  return path.length === 0 ? 'at the top' : `at "${cutAt(path.join('.'), 200)}"`;
}

/** What is wrong with one keyword, or null. */
function badKeyword(keyword: string, value: Json): string | null {
  if (keyword === 'type') {
    const ok = Array.isArray(value) ? value.length > 0 && value.every((t) => TYPES.has(t)) : TYPES.has(value);
    return ok ? null : `"type" is ${cutAt(JSON.stringify(value), 80)}`;
  }
  // Draft 3 and draft 4 forms (`required: true`, `exclusiveMinimum: true`) are read as they were meant.
  if (keyword === 'required')
    return isStrings(value) || typeof value === 'boolean' ? null : '"required" isn\'t a list of names';
  if (keyword === 'exclusiveMinimum' || keyword === 'exclusiveMaximum') {
    return typeof value === 'number' || typeof value === 'boolean' ? null : `"${keyword}" isn't a number`;
  }
  if (keyword === 'items')
    return isSchema(value) || (Array.isArray(value) && value.every(isSchema)) ? null : '"items" isn\'t a schema';
  const kind = KINDS.get(keyword) ?? HOLDERS.get(holds(keyword));
  if (kind === undefined || FITS[kind][1](value)) return null;
  return `"${keyword}" isn't ${FITS[kind][0]}`;
}

/** The first thing that makes the schema unusable at any schema position. */
function malformed(root: JsonObject): Reason | null {
  const documents = documentsOf(root);
  const stack: [JsonObject, readonly string[]][] = [[root, []]];
  let seen = 0;
  for (let next = stack.pop(); next; next = stack.pop()) {
    const [schema, path] = next;
    if (++seen > SCHEMA_CAPS.subschemas) {
      return reason('schema_too_large', `Its schema has more than ${SCHEMA_CAPS.subschemas} subschemas.`);
    }
    for (const [keyword, value] of Object.entries(schema)) {
      const bad = badKeyword(keyword, value);
      if (bad !== null) return reason('schema_invalid', `Its schema is not valid ${where(path)}: ${bad}.`);
      if (
        keyword === '$ref' &&
        typeof value === 'string' &&
        resolveLocal(root, value, documents.get(schema)) === undefined
      ) {
        const what = value.startsWith('#') ? 'does not exist' : 'lies outside the schema';
        return reason('schema_ref_unresolved', `Its schema refers to "${cutAt(value, 200)}", which ${what}.`);
      }
      for (const [below, member] of subschemasOf(keyword, value)) {
        if (isJsonObject(member)) stack.push([member, [...path, ...below]]);
      }
    }
  }
  return null;
}

/** A schema that is applied to the same value without end, or so often that checking would be. */
function endless(root: JsonObject): Reason | null {
  const documents = documentsOf(root);
  const cost = new Map<JsonObject, number>();
  const open = new Set<JsonObject>();
  const visit = (schema: JsonObject): number => {
    const known = cost.get(schema);
    if (known !== undefined) return known;
    if (open.has(schema)) return Number.POSITIVE_INFINITY;
    open.add(schema);
    let sum = 1;
    for (const next of sameValueEdges(root, schema, documents)) sum += visit(next);
    open.delete(schema);
    cost.set(schema, sum);
    return sum;
  };
  const stack: JsonObject[] = [root];
  for (let schema = stack.pop(); schema; schema = stack.pop()) {
    if (visit(schema) > SCHEMA_CAPS.branches) {
      return reason('schema_recursive', 'Its schema refers to itself in a way that no check can finish.');
    }
    for (const [keyword, value] of Object.entries(schema)) {
      for (const [, member] of subschemasOf(keyword, value)) if (isJsonObject(member)) stack.push(member);
    }
  }
  return null;
}

/**
 * Why a tool with this input schema can't be offered, or null. Caps on depth, size, enums and branching, a sound use
 * of every keyword of JSON Schema 2020-12 (and of the older forms that are still about), local references that
 * resolve, and an object at the top. Loads no compiler.
 */
export function inspectSchema(schema: Json): Reason | null {
  if (!isJsonObject(schema)) {
    return reason('schema_not_object', 'Its input schema is not a JSON object.');
  }
  const type = schema.type;
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object'))) {
    return reason(
      'schema_not_object',
      `Its input schema describes ${cutAt(JSON.stringify(type), 80)}; arguments are an object.`,
    );
  }
  return inspectAnySchema(schema);
}

/** As `inspectSchema`, for a schema of any type of value, such as an output schema. */
export function inspectAnySchema(schema: Json): Reason | null {
  if (typeof schema === 'boolean') return null;
  if (!isJsonObject(schema)) return reason('schema_invalid', 'Its schema is not a JSON object.');
  return overCaps(schema) ?? malformed(schema) ?? endless(schema);
}
