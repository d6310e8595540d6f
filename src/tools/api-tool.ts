import type { Json, JsonObject, ToolDefinition } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';
import { printable } from './printable.ts';
import { modern } from './schema-prepare.ts';
import { resolveLocal } from './schema-refs.ts';
import { mapSchema } from './schema-walk.ts';
import { strictSchema } from './strict-schema.ts';

const COMBINATORS = ['allOf', 'anyOf', 'oneOf'] as const;
/** The definition that holds lowered combinators which something refers to. */
const LOWERED = 'bridle_lowered';
/** Longest restatement of a lowered combinator in a description. */
const MAX_RULE = 4_000;

/**
 * The tool as a custom tool entry of a Messages API request.
 *
 * The API takes no `anyOf`, `oneOf` or `allOf` at the top of `input_schema`: their properties are gathered there and
 * the rule goes into the description. `strict` is left out where the schema can't be strict, since the API would refuse
 * the whole request. Calls are still checked against the definition's own schema.
 */
export function toApiTool(definition: ToolDefinition): JsonObject {
  const { ref, description, hints = {} } = definition;
  const { schema, rules } = entrySchema(definition);
  const strict = hints.strict === true ? strictSchema(schema) : null;
  return {
    name: ref.name,
    description: [description, ...rules].filter((part) => part !== '').join('\n\n'),
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

interface Lowered {
  readonly schema: JsonObject;
  /** What the schema no longer says, in words. */
  readonly rules: readonly string[];
}

function lowered(input: JsonObject): Lowered {
  const { $schema: _, ...whole } = input;
  const top = withoutTopRef(whole, input);
  const rules: string[] = [];
  let properties: JsonObject = isJsonObject(top.properties) ? top.properties : {};
  const required = new Set(strings(top.required));
  let open = top.additionalProperties !== false;
  for (const keyword of COMBINATORS) {
    const members = top[keyword];
    if (!Array.isArray(members)) continue;
    const forms = members.map((member) => (isJsonObject(member) ? withoutTopRef(member, input) : {}));
    for (const form of forms) {
      if (isJsonObject(form.properties)) properties = merged(properties, form.properties);
    }
    const needed = forms.map((form) => new Set(strings(form.required)));
    for (const key of needed.flatMap((set) => [...set])) {
      if (keyword === 'allOf' || needed.every((set) => set.has(key))) required.add(key);
    }
    // Closed beside a combinator, the object could hold nothing that only the combinator names.
    if (!open && forms.some((form) => isJsonObject(form.properties))) open = true;
    rules.push(rule(keyword, members));
  }
  if (rules.length === 0) return { schema: { ...top, type: 'object' }, rules };
  const { allOf, anyOf, oneOf, required: _required, additionalProperties: closedBy, ...rest } = top;
  const schema = {
    ...rest,
    type: 'object',
    properties,
    ...(required.size > 0 && { required: [...required] }),
    ...(closedBy !== undefined && !(closedBy === false && open) && { additionalProperties: closedBy }),
  };
  const gone = Object.fromEntries(Object.entries({ allOf, anyOf, oneOf }).filter(([, value]) => value !== undefined));
  return { rules, schema: withTargets(schema, gone as JsonObject) };
}

/** The schema with its references into what was lowered pointing to a definition of that. */
function withTargets(schema: JsonObject, gone: JsonObject): JsonObject {
  const into = /^#(?=\/(?:allOf|anyOf|oneOf)\/)/;
  let isNeeded = false;
  const moved = (part: Json): JsonObject =>
    mapSchema(part, (member) => {
      if (typeof member.$ref !== 'string' || !into.test(member.$ref)) return member;
      isNeeded = true;
      return { ...member, $ref: member.$ref.replace(into, `#/$defs/${LOWERED}`) };
    }) as JsonObject;
  const whole = moved(schema);
  if (!isNeeded) return schema;
  return { ...whole, $defs: { ...(isJsonObject(whole.$defs) && whole.$defs), [LOWERED]: moved(gone) } };
}

/** A schema whose top is a local reference, with what it refers to in its place. */
function withoutTopRef(schema: JsonObject, root: JsonObject): JsonObject {
  let out = schema;
  for (let hops = 0; typeof out.$ref === 'string' && hops < 16; hops++) {
    const { $ref, ...rest } = out;
    const target = resolveLocal(root, String($ref));
    if (!isJsonObject(target)) return rest;
    out = { ...target, ...rest };
  }
  return out;
}

function strings(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((v) => typeof v === 'string') : [];
}

/** Both sets of properties; one that both describe differently may be either. */
function merged(left: JsonObject, right: JsonObject): JsonObject {
  const out = new Map(Object.entries(left));
  for (const [key, schema] of Object.entries(right)) {
    const before = out.get(key);
    if (before === undefined) out.set(key, schema);
    else if (JSON.stringify(before) !== JSON.stringify(schema)) out.set(key, { anyOf: [before, schema] });
  }
  return Object.fromEntries(out);
}

const WORDS: Readonly<Record<(typeof COMBINATORS)[number], string>> = {
  allOf: 'The arguments must fit all of these JSON Schemas',
  anyOf: 'The arguments must fit at least one of these JSON Schemas',
  oneOf: 'The arguments must fit exactly one of these JSON Schemas',
};

function rule(keyword: (typeof COMBINATORS)[number], members: readonly Json[]): string {
  return printable(`${WORDS[keyword]}: ${JSON.stringify(members)}`, { maxLength: MAX_RULE });
}
