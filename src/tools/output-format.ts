import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';
import { mapSchema } from './schema-walk.ts';
import { strictSchema } from './strict-schema.ts';

/** A schema that the API can hold an answer to, or why there is none. */
export type OutputFormat = { readonly schema: JsonObject } | { readonly refused: string };

/** Of all schemas of a request together (Messages API, "Structured outputs": JSON Schema limitations). */
const MOST_OPTIONAL = 24;
const MOST_UNIONS = 16;

/**
 * A schema in the form in which `output_config.format` and strict tool use take it: every object closed, and what isn't
 * taken told in descriptions. What the answer is checked against stays the schema as it was given.
 *
 * @param schema JSON Schema (2020-12) of an object
 */
export function outputFormat(schema: JsonObject): OutputFormat {
  if (schema.type !== 'object') return { refused: 'it has to be of an object; wrap the value in one.' };
  const strict = strictSchema(schema);
  if (strict === null) return { refused: 'it has an object with keys that it does not list, or it contains itself.' };
  const { optional, unions } = countOf(strict);
  if (optional > MOST_OPTIONAL) {
    return { refused: `${optional} of its properties may be left out, and the API takes ${MOST_OPTIONAL}.` };
  }
  if (unions > MOST_UNIONS) {
    return { refused: `${unions} of its properties are of several types (or null), and the API takes ${MOST_UNIONS}.` };
  }
  return { schema: strict };
}

function countOf(schema: Json): { readonly optional: number; readonly unions: number } {
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
