import type { Json, JsonObject } from '../contracts/index.ts';
import { BridleError } from './bridle-error.ts';
import { isJsonObject, toJson } from './json-object.ts';
import { mapSchema } from './schema-walk.ts';
import { isStandardSchema } from './standard-schema.ts';

const OPENERS = ['additionalProperties', 'patternProperties', 'unevaluatedProperties'] as const;
const COMBINATORS = ['$ref', 'allOf', 'anyOf', 'dependentSchemas', 'if', 'oneOf'] as const;

function says(schema: JsonObject, keywords: readonly string[]): boolean {
  return keywords.some((keyword) => Object.hasOwn(schema, keyword));
}

/**
 * Closes every object of an own schema that lists its properties and doesn't say otherwise. A member of `allOf` sees
 * only its own properties, so closing it could make the whole impossible: those stay open.
 */
function closed(schema: JsonObject): JsonObject {
  let intersects = false;
  mapSchema(schema, (member, heldBy) => {
    if (heldBy === 'allOf' && Object.hasOwn(member, '$ref')) intersects = true;
    return member;
  });
  const skip = new Set(['allOf', 'if', 'then', 'else', 'not', 'dependentSchemas', 'contains']);
  if (intersects) skip.add('$defs').add('definitions');
  const result = mapSchema(schema, (member, heldBy) => {
    if (heldBy !== null && skip.has(heldBy)) return member;
    const isObject = isJsonObject(member.properties) || (heldBy === null && !says(member, COMBINATORS));
    if (!isObject || says(member, OPENERS) || says(member, COMBINATORS)) return member;
    return { ...member, additionalProperties: false };
  });
  return isJsonObject(result) ? result : schema;
}

/** Without what generators add and no author meant: the bounds of a safe integer, names that are text. */
function withoutNoise(schema: JsonObject): JsonObject {
  const result = mapSchema(schema, (member) => {
    const { minimum, maximum, propertyNames, ...rest } = member;
    const plainNames = isJsonObject(propertyNames) && JSON.stringify(propertyNames) === '{"type":"string"}';
    return {
      ...rest,
      ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
      ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
      ...(propertyNames !== undefined && !plainNames && { propertyNames }),
    };
  });
  return isJsonObject(result) ? result : schema;
}

function generated(schema: unknown, side: 'input' | 'output', tool: string): JsonObject {
  if (!isStandardSchema(schema)) {
    if (!isJsonObject(schema)) {
      throw new BridleError('tool_schema_unusable', `The ${side} schema of tool "${tool}" is not a schema.`, {
        hint: 'Give a Zod 4 schema, another Standard Schema with JSON Schema support, or a JSON Schema object.',
      });
    }
    return toJson(schema) as JsonObject;
  }
  const { jsonSchema, vendor } = schema['~standard'];
  if (!jsonSchema) {
    throw new BridleError(
      'tool_schema_unusable',
      `The ${side} schema of tool "${tool}" comes from "${vendor}", which gives no JSON Schema for it.`,
      { hint: 'Use a version of the library with Standard JSON Schema, or pass the JSON Schema itself.' },
    );
  }
  try {
    return withoutNoise(toJson(jsonSchema[side]({ target: 'draft-2020-12' })) as JsonObject);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BridleError('tool_schema_unusable', `The ${side} schema of tool "${tool}" has no JSON form: ${why}`, {
      cause,
      hint: 'Describe the value as the model writes it (text, numbers, lists, objects) and transform it from there.',
    });
  }
}

/** The closed JSON Schema, without `$schema`, that the model reads and the harness checks. */
export function ownInputSchema(schema: unknown, tool: string): JsonObject {
  const { $schema: _, ...json } = generated(schema, 'input', tool);
  const type: Json | undefined = json.type;
  if (type !== undefined && type !== 'object') {
    throw new BridleError('tool_schema_unusable', `The input of tool "${tool}" is of type ${JSON.stringify(type)}.`, {
      hint: 'Arguments are always an object: wrap the value in one.',
    });
  }
  return closed({ type: 'object', ...json });
}

/** The JSON Schema of what the tool returns, without `$schema`. */
export function ownOutputSchema(schema: unknown, tool: string): JsonObject {
  const { $schema: _, ...json } = generated(schema, 'output', tool);
  return json;
}
