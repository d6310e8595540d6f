/**
 * Rule of this file: schemas that are combined each see the whole object, and strict objects take no key that they don't
 * list. So whatever is combined becomes one schema that lists all keys, or alternatives of which each stands alone.
 */
import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';
import { mergedProperties } from './lower-schema.ts';
import { printable } from './printable.ts';
import { resolveLocal } from './schema-refs.ts';
import type { SchemaStep } from './schema-step.ts';
import { isScalar } from './strict-literals.ts';
import { unlistedKeys } from './strict-keys.ts';
import { ANNOTATIONS } from './strict-words.ts';

export type Combined =
  | {
      /** A reference with nothing beside it, alternatives with nothing beside them, or neither. */
      readonly schema: JsonObject;
      /** The keywords that it had, without those that the schema still says: what of them isn't taken has to be told. */
      readonly words: JsonObject;
      readonly steps: readonly Omit<SchemaStep, 'pointer'>[];
    }
  | { readonly refused: string };

/** Keywords that say what is in a value, and so can't stand beside alternatives. */
const STRUCTURE = ['properties', 'required', 'additionalProperties', 'patternProperties', 'items', 'prefixItems'];
const MEANT = [...STRUCTURE, 'type', '$ref', 'enum', 'const', 'anyOf', 'oneOf', 'allOf'];
/** Not of the value: names for parts, and notes. */
const ASIDE = [...ANNOTATIONS, '$defs', 'definitions', '$id', '$anchor', '$schema'];

/** @param root where references are looked up */
export function combined(given: JsonObject, root: JsonObject): Combined {
  const steps: Omit<SchemaStep, 'pointer'>[] = [];
  const all = withoutAllOf(given, root, steps);
  if ('refused' in all) return all;
  const made = withoutAlternatives(all.schema, root, steps, all.told);
  if ('refused' in made || made.schema.$ref !== undefined || all.schema.additionalProperties === false) return made;
  // One of these values as a whole is all that fits, whatever else is said of it.
  if (made.schema.enum !== undefined || made.schema.const !== undefined) return made;
  const { anyOf, oneOf, ...rest } = all.schema;
  // Alternatives that stand list their own.
  const taken = made.schema.anyOf === undefined ? { anyOf, oneOf } : Array.isArray(anyOf) ? { oneOf } : {};
  const [unlisted] = unlistedKeys({ ...rest, ...pickGiven(taken), ...all.told }, root, made.schema.properties);
  return unlisted === undefined ? made : { refused: unlistedWhy(unlisted) };
}

/** Why an object that takes no keys but those that it lists is none that a tool could take. */
export function unlistedWhy(key: string): string {
  return `it speaks of a key that it does not list among its properties, ${shown(key)}`;
}

function shown(key: string): string {
  return `"${printable(key, { maxLength: 80 })}"`;
}

function pickGiven(schema: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

/** `allOf`, and what stands beside a reference, as one schema. */
function withoutAllOf(
  given: JsonObject,
  root: JsonObject,
  steps: Omit<SchemaStep, 'pointer'>[],
): { readonly schema: JsonObject; readonly told: JsonObject } | { readonly refused: string } {
  const { $ref, allOf, ...rest } = given;
  const isBare = Object.keys(rest).every((keyword) => ASIDE.includes(keyword));
  if (allOf === undefined && ($ref === undefined || isBare)) return { schema: given, told: {} };
  const only = Array.isArray(allOf) && allOf.length === 1 && $ref === undefined && isBare ? allOf[0] : undefined;
  if (isJsonObject(only) && only.allOf === undefined) {
    steps.push({ keyword: 'allOf', how: 'lowered', text: 'The one schema of its "allOf" stands in its place.' });
    const schema = { ...only, ...rest };
    // What is beside a reference in there is combined with it.
    return only.$ref === undefined ? { schema, told: {} } : withoutAllOf(schema, root, steps);
  }
  const forms = flat(given, root, 0);
  if (forms === null) return { refused: 'it combines schemas that can not be put together' };
  const keyword = allOf === undefined ? '$ref' : 'allOf';
  const merged = mergeAll(forms);
  if (merged === null) return { refused: 'it combines schemas of which no value fits all' };
  const text = `The schemas of its "${keyword}" are put together into one.`;
  steps.push({ keyword, how: 'lowered', text });
  const told = merged.isLossy && allOf !== undefined ? { allOf } : {};
  return { schema: merged.schema, told };
}

/** All schemas that hold at once, each without references and `allOf` of its own. */
function flat(given: Json, root: JsonObject, hops: number): readonly JsonObject[] | null {
  if (given === true) return [];
  // One with an identifier of its own has its references looked up in itself.
  if (!isJsonObject(given) || hops > 16 || (hops > 0 && typeof given.$id === 'string')) return null;
  const { $ref, allOf, ...rest } = given;
  const forms: JsonObject[] = [rest];
  const more: readonly Json[] = [
    ...(typeof $ref === 'string' ? [resolveLocal(root, $ref) ?? null] : []),
    ...(Array.isArray(allOf) ? (allOf as readonly Json[]) : []),
  ];
  for (const each of more) {
    const inner = flat(each, root, hops + 1);
    if (inner === null) return null;
    forms.push(...inner);
  }
  return forms;
}

/** One schema that takes whatever fits all; null where nothing does. `isLossy`: it takes more. */
function mergeAll(forms: readonly JsonObject[]): { readonly schema: JsonObject; readonly isLossy: boolean } | null {
  const out = new Map<string, Json>();
  let isLossy = false;
  for (const [keyword, value] of forms.flatMap((form) => Object.entries(form))) {
    const before = out.get(keyword);
    if (before === undefined) out.set(keyword, value);
    else if (keyword === 'properties' && isJsonObject(before) && isJsonObject(value)) {
      if (Object.keys(value).some((name) => Object.hasOwn(before, name))) isLossy = true;
      out.set(keyword, mergedProperties(before, value));
    } else if (keyword === 'required' && Array.isArray(before) && Array.isArray(value)) {
      out.set(keyword, [...new Set([...before, ...value])]);
    } else if (keyword === 'type') {
      const types = commonTypes(listOf(before), listOf(value));
      if (types.length === 0) return null;
      out.set(keyword, types.length === 1 ? (types[0] ?? null) : [...types]);
    } else if (keyword === 'additionalProperties') {
      // One that is closed knows nothing of what the others list; one that is open wants it so.
      if (before === false) out.set(keyword, value);
    } else if (!ASIDE.includes(keyword) && JSON.stringify(before) !== JSON.stringify(value)) isLossy = true;
  }
  return { schema: Object.fromEntries(out), isLossy };
}

function listOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [value];
}

function commonTypes(left: readonly Json[], right: readonly Json[]): readonly Json[] {
  const within = (types: readonly Json[]) => (type: Json) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  return [...new Set([...left.filter(within(right)), ...right.filter(within(left))])];
}

/** `anyOf` and `oneOf` with nothing beside them, or told. */
function withoutAlternatives(
  given: JsonObject,
  root: JsonObject,
  steps: Omit<SchemaStep, 'pointer'>[],
  told: JsonObject,
): Combined {
  const { anyOf, oneOf, ...base } = given;
  const all = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : null;
  const words = { ...base, ...told };
  if (all === null) return { schema: base, words, steps };
  const forms = all.filter((form) => !isNever(form));
  if (forms.length === 0) return { refused: 'it has alternatives of which none takes any value' };
  const keyword = Array.isArray(anyOf) ? 'anyOf' : 'oneOf';
  const inWords = { ...words, ...(Array.isArray(anyOf) && oneOf !== undefined && { oneOf }) };
  const lowered = (text: string) => steps.push({ keyword, how: 'lowered', text });
  const literals = literalsOf(forms);
  if (literals !== null && base.enum === undefined && base.const === undefined) {
    lowered(`Its "${keyword}" of single values is said as an "enum".`);
    return { schema: { ...base, enum: [...literals] }, words: inWords, steps };
  }
  const beside = Object.keys(base).filter((each) => MEANT.includes(each));
  if (beside.length === 0 || (beside.length === 1 && base.type !== undefined)) {
    if (keyword === 'oneOf') lowered('"oneOf" is said as "anyOf": more than one of its schemas may fit.');
    const { type, nullable, ...rest } = base;
    const standing =
      type === undefined ? forms : forms.map((form) => withType(form, { type, ...(nullable && { nullable }) }));
    return { schema: { ...pickAside(rest), anyOf: standing }, words: inWords, steps };
  }
  const isObject = isJsonObject(base.properties) || base.type === 'object';
  if (!isObject) return { schema: base, words: { ...inWords, [keyword]: forms }, steps };
  const whole = gathered(base, forms, root);
  return 'refused' in whole ? whole : { schema: whole.schema, words: { ...inWords, [keyword]: forms }, steps };
}

function isNever(form: Json): boolean {
  if (!isJsonObject(form)) return form === false;
  const { not, ...rest } = form;
  return Object.keys(rest).length === 0 && (not === true || (isJsonObject(not) && Object.keys(not).length === 0));
}

/** The values of alternatives that are nothing but one value or a few, without words about them. */
function literalsOf(forms: readonly Json[]): readonly Json[] | null {
  const values: Json[] = [];
  for (const form of forms) {
    if (!isJsonObject(form)) return null;
    const { type, title: _, ...rest } = form;
    const [keyword, ...more] = Object.keys(rest);
    const own =
      keyword === 'const' ? [rest.const ?? null] : keyword === 'enum' && Array.isArray(rest.enum) ? rest.enum : null;
    if (own === null || more.length > 0 || !own.every(isScalar)) return null;
    if (type !== undefined && !own.every((value) => fits(value, listOf(type)))) return null;
    values.push(...own);
  }
  return [...new Set(values)];
}

function fits(value: Json, types: readonly Json[]): boolean {
  if (value === null) return types.includes('null');
  if (typeof value === 'number')
    return types.includes('number') || (types.includes('integer') && Number.isInteger(value));
  return types.includes(typeof value);
}

/** An alternative that says nothing of its type has that of the whole. */
function withType(form: Json, typed: JsonObject): Json {
  if (form === true) return typed;
  if (!isJsonObject(form)) return form;
  const says = ['type', '$ref', 'enum', 'const', 'anyOf', 'oneOf', 'allOf'].some((each) => form[each] !== undefined);
  return says ? form : { ...typed, ...form };
}

function pickAside(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => ASIDE.includes(keyword)));
}

/** An object with all keys that its alternatives list; it requires what each of them does. */
function gathered(
  base: JsonObject,
  alternatives: readonly Json[],
  root: JsonObject,
): { readonly schema: JsonObject } | { readonly refused: string } {
  const flats = alternatives.map((form) => flat(form, root, 0));
  const forms = flats.map((each) => mergeAll(each ?? [])?.schema ?? {});
  if (flats.includes(null)) return { refused: 'it combines schemas that can not be put together' };
  const listed = isJsonObject(base.properties) ? base.properties : {};
  let properties: JsonObject = listed;
  for (const form of forms) {
    if (isJsonObject(form.properties)) properties = mergedProperties(properties, form.properties);
  }
  const free = freeAmong(forms, listed);
  if (free !== undefined) return { refused: freeWhy(free) };
  const open = forms.find(({ additionalProperties: more, patternProperties }) => more || patternProperties);
  const needed = forms.map((form) => new Set(listOf(form.required ?? [])));
  const [first = new Set<Json>(), ...others] = needed;
  const shared = [...first].filter((name) => others.every((set) => set.has(name)));
  const required = [...new Set([...listOf(base.required ?? []), ...shared])];
  const { additionalProperties, ...rest } = base;
  const schema = {
    ...rest,
    properties,
    ...(required.length > 0 && { required }),
    ...(additionalProperties !== undefined && additionalProperties !== false && { additionalProperties }),
    ...(open && { additionalProperties: true }),
  };
  return { schema };
}

/**
 * A key that one of the alternatives at the top of a schema lists and another leaves free; what the first says of it does
 * not hold then.
 */
export function freeKey(root: JsonObject): string | undefined {
  const parts = flat(root, root, 0) ?? [];
  const listed = Object.assign({}, ...parts.map(({ properties }) => properties)) as JsonObject;
  for (const { anyOf, oneOf } of parts) {
    for (const alternatives of [anyOf, oneOf]) {
      if (!Array.isArray(alternatives)) continue;
      const forms = alternatives.map((form) => mergeAll(flat(form, root, 0) ?? [])?.schema ?? {});
      const free = freeAmong(forms, listed);
      if (free !== undefined) return free;
    }
  }
  return undefined;
}

export function freeWhy(key: string): string {
  return `one of its alternatives lists ${shown(key)}, and another takes anything there`;
}

function freeAmong(forms: readonly JsonObject[], listed: JsonObject): string | undefined {
  const names = forms.flatMap(({ properties }) => (isJsonObject(properties) ? Object.keys(properties) : []));
  return names.find((name) => !Object.hasOwn(listed, name) && forms.some((form) => leavesFree(form, name)));
}

function leavesFree({ properties, additionalProperties, type }: JsonObject, name: string): boolean {
  if (additionalProperties === false || (type !== undefined && !listOf(type).includes('object'))) return false;
  return !isJsonObject(properties) || !Object.hasOwn(properties, name);
}
