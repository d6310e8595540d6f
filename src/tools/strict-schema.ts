import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';
import { resolveLocal } from './schema-refs.ts';
import { mapSchema, subschemasOf } from './schema-walk.ts';

/** What strict tool use doesn't take; a model still reads it, in words. */
const UNTAKEN = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'prefixItems',
  'contains',
  'minContains',
  'maxContains',
  'unevaluatedItems',
  'unevaluatedProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'not',
  'if',
  'then',
  'else',
  'oneOf',
] as const;
const FORMATS: ReadonlySet<unknown> = new Set([
  'date',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'time',
  'uri',
  'uuid',
]);
/** Look-around, back-references and word boundaries. */
const UNUSABLE_PATTERN = /\(\?[=!<]|\\[1-9bBk]/;

function untaken(schema: JsonObject): readonly string[] {
  const keywords: string[] = UNTAKEN.filter((keyword) => Object.hasOwn(schema, keyword));
  if (typeof schema.minItems === 'number' && schema.minItems > 1) keywords.push('minItems');
  if (typeof schema.items === 'boolean') keywords.push('items');
  if (typeof schema.pattern === 'string' && UNUSABLE_PATTERN.test(schema.pattern)) keywords.push('pattern');
  if (schema.format !== undefined && !FORMATS.has(schema.format)) keywords.push('format');
  if (Array.isArray(schema.enum) && schema.enum.some(isCompound)) keywords.push('enum');
  if (isCompound(schema.const)) keywords.push('const');
  return keywords;
}

function isCompound(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null;
}

/**
 * An input schema as strict tool use of the Messages API takes it: every object closed, and what it refuses told in the
 * description instead. Calls are still checked against the definition's own schema.
 *
 * @returns null for what strict tool use can't express: a closed object where the author wants an open one would take
 *   nothing, and a schema within itself would cost the whole request
 */
export function strictSchema(schema: JsonObject): JsonObject | null {
  if (isRecursive(schema)) return null;
  let open = false;
  const result = mapSchema(schema, (given): Json => {
    const { oneOf, ...others } = given;
    const member = oneOf !== undefined && others.anyOf === undefined ? { ...others, anyOf: oneOf } : given;
    open ||= isOpen(member);
    const gone = untaken(member);
    const said = gone.map((keyword) => `${keyword}: ${JSON.stringify(member[keyword])}`).join(', ');
    const kept = Object.fromEntries(Object.entries(member).filter(([keyword]) => !gone.includes(keyword)));
    const description = typeof member.description === 'string' ? `${member.description} (${said})` : said;
    return {
      ...kept,
      ...(gone.length > 0 && { description }),
      ...(isObjectSchema(member) && { additionalProperties: false }),
    };
  });
  return open || !isJsonObject(result) ? null : result;
}

function isObjectSchema(schema: JsonObject): boolean {
  return schema.type === 'object' || isJsonObject(schema.properties);
}

/** True for an object that may have more than it lists, by its author's word or because it lists nothing. */
function isOpen(schema: JsonObject): boolean {
  const { properties, additionalProperties, patternProperties } = schema;
  if (additionalProperties === false) return patternProperties !== undefined;
  return isObjectSchema(schema) && (additionalProperties !== undefined || properties === undefined);
}

function isRecursive(root: JsonObject): boolean {
  const done = new Set<JsonObject>();
  const open = new Set<JsonObject>();
  const visit = (schema: Json | undefined): boolean => {
    if (!isJsonObject(schema) || done.has(schema)) return false;
    if (open.has(schema)) return true;
    open.add(schema);
    const found = Object.entries(schema).some(([keyword, value]) =>
      keyword === '$ref' && typeof value === 'string'
        ? visit(resolveLocal(root, value))
        : subschemasOf(keyword, value).some(([, member]) => visit(member)),
    );
    open.delete(schema);
    done.add(schema);
    return found;
  };
  return visit(root);
}
