import type { Json, JsonObject } from '../contracts/index.ts';
import { ToolFailure } from './failure.ts';
import { isJsonObject } from './json-object.ts';
import { ownInputSchema } from './schema-own.ts';

/** The keywords that a form has for each kind of field (MCP, Elicitation, `PrimitiveSchemaDefinition`). */
const SHARED = ['type', 'title', 'description', 'default'] as const;
const KEYWORDS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['string', [...SHARED, 'minLength', 'maxLength', 'format', 'enum', 'enumNames', 'oneOf']],
  ['number', [...SHARED, 'minimum', 'maximum']],
  ['integer', [...SHARED, 'minimum', 'maximum']],
  ['boolean', SHARED],
  ['array', [...SHARED, 'minItems', 'maxItems', 'items']],
]);
const FORMATS: ReadonlySet<Json | undefined> = new Set(['email', 'uri', 'date', 'date-time']);

export interface AskSchema {
  /** What the caller is sent: only what a form can show. */
  readonly form: JsonObject;
  /** What the answer is checked against: everything that the author wrote. */
  readonly check: JsonObject;
}

/**
 * Reads the schema of a question.
 *
 * @throws ToolFailure for one that no form has: a question is a flat object of texts, numbers, booleans and choices
 */
export function askSchema(schema: unknown, tool: string): AskSchema {
  const check = ownInputSchema(schema, tool);
  const properties = isJsonObject(check.properties) ? Object.entries(check.properties) : [];
  const fields = properties.map(([name, property]) => {
    const field = formField(property);
    if (field) return [name, field] as const;
    throw new ToolFailure(`Tool "${tool}" asks for "${name}" in a way that no form has, so nobody was asked.`);
  });
  const required = Array.isArray(check.required) ? check.required : [];
  return {
    check,
    form: { type: 'object', properties: Object.fromEntries(fields), ...(required.length > 0 && { required }) },
  };
}

function formField(schema: Json): JsonObject | null {
  if (!isJsonObject(schema)) return null;
  const { type, format } = schema;
  const keywords = typeof type === 'string' ? KEYWORDS.get(type) : undefined;
  if (!keywords) return null;
  if (type === 'array' && !(isJsonObject(schema.items) && isChoice(schema.items))) return null;
  if (type === 'string' && (schema.enum ?? schema.oneOf) !== undefined && !isChoice(schema)) return null;
  const kept = Object.entries(schema).filter(([keyword]) => keywords.includes(keyword));
  return Object.fromEntries(kept.filter(([keyword]) => keyword !== 'format' || FORMATS.has(format)));
}

/** A list of texts, or of texts with titles. */
function isChoice({ enum: values, oneOf, anyOf }: JsonObject): boolean {
  if (Array.isArray(values)) return values.length > 0 && values.every((value) => typeof value === 'string');
  const titled = oneOf ?? anyOf;
  return Array.isArray(titled) && titled.every((each) => isJsonObject(each) && typeof each.const === 'string');
}
