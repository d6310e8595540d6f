import type { Json } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';
import { mapSchema } from './schema-walk.ts';

/** Of all strict tools and the output's schema of one request together (Messages API, "Structured outputs"). */
export const STRICT_LIMITS = { tools: 20, optional: 24, unions: 16 } as const;

/** What a schema takes of those limits. */
export interface StrictNeeds {
  /** Properties that may be left out. */
  readonly optional: number;
  /** Properties of several types. */
  readonly unions: number;
}

/** @param schema in its strict form */
export function strictNeeds(schema: Json): StrictNeeds {
  let optional = 0;
  let unions = 0;
  mapSchema(schema, (member) => {
    const required = Array.isArray(member.required) ? member.required : [];
    for (const [name, property] of Object.entries(isJsonObject(member.properties) ? member.properties : {})) {
      if (!required.includes(name)) optional += 1;
      if (isJsonObject(property) && (Array.isArray(property.type) || Array.isArray(property.anyOf))) unions += 1;
    }
    return member;
  });
  return { optional, unions };
}
