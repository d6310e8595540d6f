import type { JsonObject } from '../contracts/index.ts';

/** What holds a value to nothing. */
export const ANNOTATIONS: readonly string[] = [
  ...['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', '$comment'],
];
/** Longest keyword, with its value, that a model is told. */
export const MOST_TOLD = 1_000;

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
  'dependencies',
  'not',
  'if',
  'then',
  'else',
  'allOf',
  'anyOf',
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
/** Look-around, names and flags of groups, references back, word boundaries, classes by Unicode's properties. */
const UNUSABLE_PATTERN = /\(\?(?!:)|\\[1-9bBkpP]/;
/** Each count of a repetition is written out in a grammar. */
const COUNTED = /\{(\d+)(?:,(\d*))?\}/g;
const MOST_COUNTED = 100;

/** The keywords of one schema that strict tool use doesn't take; combinators where they were taken out of it. */
export function untaken(schema: JsonObject): readonly string[] {
  const keywords: string[] = UNTAKEN.filter((keyword) => Object.hasOwn(schema, keyword));
  if (typeof schema.minItems === 'number' && schema.minItems > 1) keywords.push('minItems');
  if (typeof schema.items === 'boolean') keywords.push('items');
  if (typeof schema.pattern === 'string' && !isUsable(schema.pattern)) keywords.push('pattern');
  if (schema.format !== undefined && !FORMATS.has(schema.format)) keywords.push('format');
  return keywords;
}

function isUsable(pattern: string): boolean {
  if (UNUSABLE_PATTERN.test(pattern)) return false;
  for (const [, least, most] of pattern.matchAll(COUNTED)) {
    if (Number(least) > MOST_COUNTED || Number(most ?? 0) > MOST_COUNTED) return false;
  }
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}
