import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject, ownMember } from './json-object.ts';
import { resolveLocal } from './schema-refs.ts';

/**
 * True when a value has the keys that a schema in its strict form requires, and none that it doesn't list: an example that
 * has not would cost the request.
 */
export function fitsStrict(root: JsonObject, value: Json, schema: Json = root): boolean {
  if (!isJsonObject(schema)) return true;
  if (typeof schema.$ref === 'string') return fitsStrict(root, value, resolveLocal(root, schema.$ref) ?? true);
  if (Array.isArray(schema.anyOf)) return schema.anyOf.some((form) => fitsStrict(root, value, form));
  if (Array.isArray(value)) return value.every((item) => fitsStrict(root, item, schema.items ?? true));
  const { properties, required } = schema;
  if (!isJsonObject(value) || !isJsonObject(properties)) return true;
  const listed = Object.entries(value).every(([name, member]) => {
    const property = ownMember(properties, name);
    return property !== undefined && fitsStrict(root, member, property);
  });
  return listed && (Array.isArray(required) ? required : []).every((name) => Object.hasOwn(value, String(name)));
}
