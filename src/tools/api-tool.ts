import type { JsonObject, ToolDefinition } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';
import { type Lowered, lowered, stepsOf } from './lower-schema.ts';
import { printable } from './printable.ts';
import { modern } from './schema-prepare.ts';
import { mapSchema } from './schema-walk.ts';
import { freeKey, freeWhy, unlistedWhy } from './strict-combine.ts';
import { fitsStrict } from './strict-fits.ts';
import { unlistedKeys } from './strict-keys.ts';
import { refusal, type StrictForm, type StrictOptions, strictSchema } from './strict-schema.ts';

/** Whether an entry is strict; `defaults_required`: it is, and what has a default has to be given. */
export type Strictness = 'strict' | 'defaults_required' | 'loose';

/**
 * The tool as a custom tool entry of a Messages API request.
 *
 * What the API doesn't take at the top of `input_schema` goes into the description (see `lowered`). `strict` is left out
 * where the tool can't be strict, since the API would refuse the whole request. Calls are still checked against the
 * definition's own schema.
 */
export function toApiTool(definition: ToolDefinition): JsonObject {
  return apiToolEntry(definition, definition.hints?.strict === true ? 'strict' : 'loose');
}

/** As `toApiTool`, whatever the author asks for; loose where the tool can't be strict. */
export function apiToolEntry(definition: ToolDefinition, strictness: Strictness): JsonObject {
  const { ref, description, hints = {} } = definition;
  const { schema, rules } = entrySchema(definition);
  const form = strictness === 'loose' ? null : strictTool(definition, optionsOf(strictness));
  const strict = form !== null && 'schema' in form ? form.schema : null;
  const words = [description, ...rules.map(({ text }) => text)].filter((part) => part !== '').join('\n\n');
  const examples = (hints.examples ?? []).filter((example) => strict === null || fitsStrict(strict, example));
  return {
    name: ref.name,
    ...(words !== '' && { description: words }),
    input_schema: strict ?? schema,
    ...((strict !== null || hints.strict === false) && { strict: strict !== null }),
    ...(hints.examples && (examples.length > 0 || strict === null) && { input_examples: examples }),
    ...(hints.cacheControl !== undefined && { cache_control: hints.cacheControl }),
    ...(hints.deferLoading !== undefined && { defer_loading: hints.deferLoading }),
    ...(hints.allowedCallers && { allowed_callers: [...hints.allowedCallers] }),
    ...(hints.eagerInputStreaming !== undefined && { eager_input_streaming: hints.eagerInputStreaming }),
  };
}

function optionsOf(strictness: Strictness): StrictOptions {
  return { defaultsRequired: strictness === 'defaults_required' };
}

/**
 * What strict tool use makes of a tool: the schema that it takes and the steps to it, from what the tool itself takes;
 * or why the tool can't be strict, whoever asks for it.
 */
export function strictTool(definition: ToolDefinition, options: StrictOptions = {}): StrictForm {
  const { allowedCallers = ['direct'], toolset } = definition.hints ?? {};
  if (toolset !== undefined) return refusal('strict_toolset', 'it is a member of a toolset of the provider');
  if (allowedCallers.some((caller) => caller !== 'direct')) {
    return refusal('strict_programmatic', 'code may call it');
  }
  const entry = entrySchema(definition);
  const form = strictSchema(entry.schema, options);
  if ('refused' in form) return form;
  const root = isJsonObject(definition.inputSchema) ? definition.inputSchema : {};
  const { additionalProperties, properties } = entry.schema;
  const [unlisted] = additionalProperties === false ? [] : unlistedKeys(root, root, properties);
  if (unlisted !== undefined) return refusal('strict_unlisted', unlistedWhy(unlisted));
  const free = freeKey(root);
  if (free !== undefined) return refusal('strict_impossible', freeWhy(free));
  return { ...form, steps: [...stepsOf(entry), ...form.steps] };
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
