import type { JsonObject, ToolDefinition } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';
import { type Lowered, lowered } from './lower-schema.ts';
import { printable } from './printable.ts';
import { modern } from './schema-prepare.ts';
import { mapSchema } from './schema-walk.ts';
import { strictSchema } from './strict-schema.ts';

/**
 * The tool as a custom tool entry of a Messages API request.
 *
 * What the API doesn't take at the top of `input_schema` goes into the description (see `lowered`). `strict` is left out
 * where the schema can't be strict, since the API would refuse the whole request. Calls are still checked against the
 * definition's own schema.
 */
export function toApiTool(definition: ToolDefinition): JsonObject {
  const { ref, description, hints = {} } = definition;
  const { schema, rules } = entrySchema(definition);
  const strict = hints.strict === true ? strictSchema(schema) : null;
  const words = [description, ...rules].filter((part) => part !== '').join('\n\n');
  return {
    name: ref.name,
    ...(words !== '' && { description: words }),
    input_schema: strict ?? schema,
    ...((strict !== null || hints.strict === false) && { strict: strict !== null }),
    ...(hints.examples && { input_examples: [...hints.examples] }),
    ...(hints.cacheControl !== undefined && { cache_control: hints.cacheControl }),
    ...(hints.deferLoading !== undefined && { defer_loading: hints.deferLoading }),
    ...(hints.allowedCallers && { allowed_callers: [...hints.allowedCallers] }),
    ...(hints.eagerInputStreaming !== undefined && { eager_input_streaming: hints.eagerInputStreaming }),
  };
}

/** False for a tool whose author asks for strict tool use of a schema that it can't express. */
export function canBeStrict(definition: ToolDefinition): boolean {
  return definition.hints?.strict !== true || strictSchema(entrySchema(definition).schema) !== null;
}

function entrySchema({ inputSchema }: ToolDefinition): Lowered {
  const { schema, rules } = lowered(isJsonObject(inputSchema) ? inputSchema : {});
  return { schema: clean(schema), rules };
}

/** In 2020-12 forms, the only ones the API takes; its descriptions without what a person couldn't see. */
function clean(schema: JsonObject): JsonObject {
  const cleaned = mapSchema(schema, (older) => {
    const member = modern(older);
    const words = (['description', 'title'] as const).filter((key) => typeof member[key] === 'string');
    if (words.length === 0) return member;
    return {
      ...member,
      ...Object.fromEntries(words.map((key) => [key, printable(String(member[key]), { newlines: true })])),
    };
  });
  return isJsonObject(cleaned) ? cleaned : schema;
}
