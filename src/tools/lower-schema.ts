import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';
import { printable } from './printable.ts';
import { resolveLocal } from './schema-refs.ts';
import type { SchemaStep } from './schema-step.ts';
import { mapSchema } from './schema-walk.ts';

const COMBINATORS = ['allOf', 'anyOf', 'oneOf'] as const;
/** What the API takes as the name of a property at the top. */
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;
/** The definition that holds the schema as it was, where something refers to a part of it that is gone. */
const BEFORE = 'bridle_before';
/** Longest restatement in a description. */
const MAX_RULE = 4_000;

export interface Lowered {
  readonly schema: JsonObject;
  /** What the schema no longer says, in words. */
  readonly rules: readonly Rule[];
}

/** One thing that the description says in place of the schema, with the keywords at the top that said it. */
interface Rule {
  readonly keyword: string;
  readonly text: string;
}

/** The rules as steps; what they say stands in the description of the tool. */
export function stepsOf({ rules }: Lowered): readonly SchemaStep[] {
  return rules.map(({ keyword, text }) => ({
    pointer: '',
    keyword,
    how: 'described',
    text: `In the tool's description: ${text}`,
  }));
}

/**
 * An input schema in the form that the Messages API takes, since one that it refuses costs the whole request.
 *
 * It takes no `anyOf`, `oneOf` or `allOf` at the top: their properties are gathered there and the rule is told in words.
 * Nor does it take every property name there: others are told in words too, and the object is left open for them.
 */
export function lowered(input: JsonObject): Lowered {
  const { $schema: _, ...whole } = input;
  const top = withoutTopRef(whole, input);
  const gathered = withoutCombinators(top, input);
  const { schema, rules } = withoutOddNames(gathered.schema);
  return { schema: withTargets({ ...schema, type: 'object' }, top), rules: [...gathered.rules, ...rules] };
}

function withoutCombinators(top: JsonObject, root: JsonObject): Lowered {
  const rules: Rule[] = [];
  let properties: JsonObject = isJsonObject(top.properties) ? top.properties : {};
  const required = new Set(strings(top.required));
  let open = top.additionalProperties !== false;
  for (const keyword of COMBINATORS) {
    const members = top[keyword];
    if (!Array.isArray(members)) continue;
    const forms = members.map((member) => (isJsonObject(member) ? withoutTopRef(member, root) : {}));
    for (const form of forms) {
      if (isJsonObject(form.properties)) properties = mergedProperties(properties, form.properties);
    }
    const needed = forms.map((form) => new Set(strings(form.required)));
    for (const key of needed.flatMap((set) => [...set])) {
      if (keyword === 'allOf' || needed.every((set) => set.has(key))) required.add(key);
    }
    // Closed beside a combinator, the object could hold nothing that only the combinator names.
    if (!open && forms.some((form) => isJsonObject(form.properties))) open = true;
    rules.push(rule(keyword, WORDS[keyword], members));
  }
  if (rules.length === 0) return { schema: top, rules };
  const { allOf: _a, anyOf: _b, oneOf: _c, required: _d, additionalProperties: closedBy, ...rest } = top;
  return {
    rules,
    schema: {
      ...rest,
      properties,
      ...(required.size > 0 && { required: [...required] }),
      ...(closedBy !== undefined && !(closedBy === false && open) && { additionalProperties: closedBy }),
    },
  };
}

function withoutOddNames(schema: JsonObject): Lowered {
  const all = Object.entries(isJsonObject(schema.properties) ? schema.properties : {});
  const odd = all.filter(([name]) => !PROPERTY_NAME.test(name));
  if (odd.length === 0) return { schema, rules: [] };
  const { required: _, additionalProperties, ...rest } = schema;
  const required = strings(schema.required);
  const needed = odd.map(([name]) => name).filter((name) => required.includes(name));
  return {
    schema: {
      ...rest,
      properties: Object.fromEntries(all.filter(([name]) => PROPERTY_NAME.test(name))),
      required: required.filter((name) => PROPERTY_NAME.test(name)),
      additionalProperties: additionalProperties === false ? true : (additionalProperties ?? true),
    },
    rules: [
      rule('properties', 'It also takes arguments with these exact names, as JSON Schemas', Object.fromEntries(odd)),
      ...(needed.length === 0 ? [] : [rule('required', 'Of these are required', needed)]),
    ],
  };
}

/** The schema with what its references point to: whatever isn't there any more is found in a definition of `before`. */
function withTargets(schema: JsonObject, before: JsonObject): JsonObject {
  let isNeeded = false;
  const kept = (part: Json): JsonObject =>
    mapSchema(part, (member) => {
      const ref = member.$ref;
      if (typeof ref !== 'string' || !ref.startsWith('#/') || resolveLocal(schema, ref) !== undefined) return member;
      isNeeded = true;
      return { ...member, $ref: `#/$defs/${BEFORE}${ref.slice(1)}` };
    }) as JsonObject;
  const whole = kept(schema);
  if (!isNeeded) return schema;
  const { $defs, ...rest } = before;
  return { ...whole, $defs: { ...(isJsonObject(whole.$defs) && whole.$defs), [BEFORE]: kept(rest) } };
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
export function mergedProperties(left: JsonObject, right: JsonObject): JsonObject {
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

function rule(keyword: string, words: string, value: Json): Rule {
  return { keyword, text: printable(`${words}: ${JSON.stringify(value)}`, { maxLength: MAX_RULE }) };
}
