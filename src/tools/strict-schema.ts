import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';
import { mapSchema } from './schema-walk.ts';

/** Bounds that strict tool use doesn't take; a model still reads them, in words. */
const BOUNDS = [
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

function unusable(schema: JsonObject): readonly string[] {
  const keywords: string[] = BOUNDS.filter((keyword) => Object.hasOwn(schema, keyword));
  if (typeof schema.minItems === 'number' && schema.minItems > 1) keywords.push('minItems');
  if (typeof schema.pattern === 'string' && UNUSABLE_PATTERN.test(schema.pattern)) keywords.push('pattern');
  if (schema.format !== undefined && !FORMATS.has(schema.format)) keywords.push('format');
  return keywords;
}

/**
 * An input schema as strict tool use of the Messages API takes it: every object closed, and the bounds that it refuses
 * told in the description instead. Calls are still checked against the definition's own schema.
 */
export function strictSchema(schema: JsonObject): JsonObject {
  const result = mapSchema(schema, (member): Json => {
    const gone = unusable(member);
    const said = gone.map((keyword) => `${keyword}: ${JSON.stringify(member[keyword])}`).join(', ');
    const kept = Object.fromEntries(Object.entries(member).filter(([keyword]) => !gone.includes(keyword)));
    const description = typeof member.description === 'string' ? `${member.description} (${said})` : said;
    const isObject = member.type === 'object' || isJsonObject(member.properties);
    return {
      ...kept,
      ...(gone.length > 0 && { description }),
      ...(isObject && { additionalProperties: false }),
    };
  });
  return isJsonObject(result) ? result : schema;
}
