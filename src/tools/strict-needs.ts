import type { Json } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';
import { resolveLocal } from './schema-refs.ts';
import { mapSchema } from './schema-walk.ts';

/** Of all strict tools and the output's schema of one request together (Messages API, "Structured outputs"). */
export const STRICT_LIMITS = { tools: 20, optional: 24, unions: 16 } as const;

/** What a schema takes of those limits. */
export interface StrictNeeds {
  /** Properties that may be left out. */
  readonly optional: number;
  /** Properties and items of several types, also where a reference says so. */
  readonly unions: number;
}

/** @param schema in its strict form */
export function strictNeeds(schema: Json): StrictNeeds {
  let optional = 0;
  let unions = 0;
  const isUnion = (given: Json | undefined, hops = 0): boolean => {
    if (!isJsonObject(given)) return false;
    if (Array.isArray(given.type) || Array.isArray(given.anyOf)) return true;
    if (typeof given.$ref !== 'string' || !isJsonObject(schema) || hops > 16) return false;
    return isUnion(resolveLocal(schema, given.$ref), hops + 1);
  };
  mapSchema(schema, (member) => {
    const required = Array.isArray(member.required) ? member.required : [];
    for (const [name, property] of Object.entries(isJsonObject(member.properties) ? member.properties : {})) {
      if (!required.includes(name)) optional += 1;
      if (isUnion(property)) unions += 1;
    }
    if (isUnion(member.items)) unions += 1;
    return member;
  });
  return { optional, unions };
}
