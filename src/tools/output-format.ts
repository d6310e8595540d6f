import type { JsonObject } from '../contracts/index.ts';
import { STRICT_LIMITS } from './strict-needs.ts';
import { strictSchema } from './strict-schema.ts';

/** A schema that the API can hold an answer to, or why there is none. */
export type OutputFormat = { readonly schema: JsonObject } | { readonly refused: string };

/**
 * A schema in the form in which `output_config.format` and strict tool use take it: every object closed, and what isn't
 * taken told in descriptions. What the answer is checked against stays the schema as it was given.
 *
 * @param schema JSON Schema (2020-12) of an object
 */
export function outputFormat(schema: JsonObject): OutputFormat {
  if (schema.type !== 'object') return { refused: 'it has to be of an object; wrap the value in one.' };
  const strict = strictSchema(schema);
  if ('refused' in strict) return { refused: strict.why };
  const { optional, unions } = strict.needs;
  if (optional > STRICT_LIMITS.optional) {
    return { refused: `${optional} of its properties may be left out, and the API takes ${STRICT_LIMITS.optional}.` };
  }
  if (unions > STRICT_LIMITS.unions) {
    return {
      refused: `${unions} of its properties are of several types (or null), and the API takes ${STRICT_LIMITS.unions}.`,
    };
  }
  return { schema: strict.schema };
}
