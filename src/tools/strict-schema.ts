import type { Json, JsonObject, Reason } from '../contracts/index.ts';
import { isJsonObject, pointerSegment } from './json-object.ts';
import { inspectAnySchema, SCHEMA_CAPS } from './schema-inspect.ts';
import { resolveLocal } from './schema-refs.ts';
import type { SchemaStep } from './schema-step.ts';
import { subschemasOf } from './schema-walk.ts';
import { type Combined, combined } from './strict-combine.ts';
import { isScalar, literalForm } from './strict-literals.ts';
import { type StrictNeeds, strictNeeds } from './strict-needs.ts';
import { ANNOTATIONS, MOST_TOLD, untaken } from './strict-words.ts';

/** A schema as strict tool use takes it and how it came to be that, or why there is no such form. */
export type StrictForm =
  | { readonly schema: JsonObject; readonly steps: readonly SchemaStep[]; readonly needs: StrictNeeds }
  | {
      readonly refused: Reason;
      /** The same as the end of a sentence. */
      readonly why: string;
    };

export interface StrictOptions {
  /** Properties that may be left out and have a default have to be given: fewer of them count as optional. */
  readonly defaultsRequired?: boolean;
}

/**
 * An input schema as strict tool use of the Messages API takes it, by named steps. It takes every value that the schema
 * takes, but for keys that the schema doesn't list; some more, where it can't say all. Calls are still checked against
 * the definition's own schema.
 *
 * @param schema JSON Schema (2020-12) of an object
 * @returns `refused` for what strict tool use can't express: a closed object where the author wants an open one would
 *   take nothing, and a schema within itself would cost the whole request
 */
export function strictSchema(schema: JsonObject, options: StrictOptions = {}): StrictForm {
  const unsound = inspectAnySchema(schema);
  if (unsound) return { refused: unsound, why: unsound.text };
  if (isRecursive(schema)) return refusal('strict_recursive', 'it contains itself');
  const form = new Compiler(schema, options);
  const compiled = form.compile();
  if (form.refused) return form.refused;
  return { schema: compiled, steps: form.steps, needs: strictNeeds(compiled) };
}

type Refusal = Extract<StrictForm, { refused: Reason }>;

export function refusal(code: string, why: string): Refusal {
  return { refused: { room: 'tools', code, text: `It can't be strict: ${why}.` }, why: `${why}.` };
}

class Compiler {
  readonly steps: SchemaStep[] = [];
  refused: Refusal | null = null;
  readonly #root: JsonObject;
  readonly #options: StrictOptions;
  /** What is referred to, by the schema that is meant: its name among the definitions. */
  readonly #names = new Map<JsonObject, string>();
  readonly #definitions = new Map<string, JsonObject>();
  #members = 0;

  constructor(root: JsonObject, options: StrictOptions) {
    this.#root = root;
    this.#options = options;
  }

  compile(): JsonObject {
    const { $schema: _, ...root } = this.#root;
    const compiled = this.#schema(root, '');
    return this.#definitions.size === 0 ? compiled : { ...compiled, $defs: Object.fromEntries(this.#definitions) };
  }

  #refuse(code: string, why: string, pointer: string): JsonObject {
    this.refused ??= refusal(code, pointer === '' ? why : `${why} (at ${pointer})`);
    return {};
  }

  #step(pointer: string, keyword: string, how: SchemaStep['how'], text: string): void {
    this.steps.push({ pointer, keyword, how, text });
  }

  /** One schema. Whatever it becomes takes at least the values that it takes. */
  #schema(given: Json, pointer: string): JsonObject {
    if (this.refused) return {};
    // What is put together may be met again and again, each time in full.
    if (++this.#members > SCHEMA_CAPS.subschemas * 2) {
      return this.#refuse('strict_too_large', 'written out, it is too large', '');
    }
    if (!isJsonObject(given)) return this.#any(pointer);
    if (pointer !== '' && typeof given.$id === 'string') {
      return this.#refuse('strict_ids', 'a part of it has an identifier of its own', pointer);
    }
    if (given.$dynamicRef !== undefined) return this.#refuse('strict_reference', 'it has a dynamic reference', pointer);
    const whole = this.#combined(given, pointer);
    if ('refused' in whole) return this.#refuse('strict_impossible', whole.refused, pointer);
    const { schema, words } = whole;
    return this.#described(this.#typed(schema, pointer), words, pointer);
  }

  /** Without combinators that would shut each other out. */
  #combined(given: JsonObject, pointer: string): Combined {
    const whole = combined(given, this.#root);
    if ('schema' in whole) for (const step of whole.steps) this.steps.push({ ...step, pointer });
    return whole;
  }

  #any(pointer: string): JsonObject {
    return this.#refuse('strict_any_value', 'it takes a value of any type', pointer);
  }

  /** With one way to say what type of value it is of, and only what such a value has. */
  #typed(given: JsonObject, pointer: string): JsonObject {
    const annotations = pick(given, ANNOTATIONS);
    if (typeof given.$ref === 'string') return { ...annotations, $ref: this.#reference(given.$ref, pointer) };
    const literals = this.#literals(given, pointer);
    if (literals) return { ...annotations, ...literals };
    if (Array.isArray(given.anyOf)) {
      const forms = given.anyOf.map((form, at) => this.#schema(form, `${pointer}/anyOf/${at}`));
      return { ...annotations, anyOf: forms };
    }
    const types = this.#types(given, pointer);
    if (types.length === 0) return this.#any(pointer);
    return {
      ...annotations,
      type: types.length === 1 ? (types[0] ?? null) : types,
      ...(types.includes('object') && this.#object(given, pointer)),
      ...(types.includes('array') && this.#array(given, pointer)),
      ...(types.includes('string') && this.#string(given)),
    };
  }

  #types(given: JsonObject, pointer: string): string[] {
    const { type, nullable } = given;
    const said = (Array.isArray(type) ? type : [type]).filter((each) => typeof each === 'string');
    if (said.length > 0) {
      if (nullable !== true || said.includes('null')) return said;
      this.#step(pointer, 'nullable', 'lowered', '"nullable" is said as one of its types.');
      return [...said, 'null'];
    }
    const meant = isJsonObject(given.properties) ? 'object' : (given.items ?? given.prefixItems) ? 'array' : null;
    if (meant === null) return [];
    this.#step(pointer, 'type', 'lowered', `It has no type, and is taken to be an ${meant}.`);
    return [meant];
  }

  /** `enum` and `const`. */
  #literals(given: JsonObject, pointer: string): JsonObject | null {
    const { type, const: only } = given;
    const isEnum = Array.isArray(given.enum);
    const all = Array.isArray(given.enum) ? given.enum : only === undefined ? null : [only];
    if (all === null) return null;
    const types = type === undefined ? null : this.#types(given, pointer);
    const members = all.filter((member) => types === null || types.includes(typeOf(member)) || isWhole(member, types));
    if (members.length === 0) return this.#refuse('strict_impossible', 'none of its values has its type', pointer);
    const keyword = isEnum ? 'enum' : 'const';
    if (members.length < all.length) {
      this.#step(pointer, keyword, 'lowered', 'Values of another type than its own are left out.');
    }
    if (members.every(isScalar)) {
      const [first = null] = members;
      // A type of which there is no value would have to be said in full.
      const had = types?.filter((each) => members.some((member) => typeOf(member) === each || isWhole(member, [each])));
      return {
        ...(had && { type: had.length === 1 ? (had[0] ?? null) : had }),
        ...(isEnum ? { enum: members } : { const: first }),
      };
    }
    this.#step(pointer, keyword, 'lowered', 'Values that are lists or objects are said as schemas that take them.');
    return literalForm(members);
  }

  #object(given: JsonObject, pointer: string): JsonObject {
    const { properties, additionalProperties, patternProperties, unevaluatedProperties } = given;
    const isMap =
      patternProperties !== undefined ||
      [additionalProperties, unevaluatedProperties].some((more) => more !== undefined && more !== false);
    // A tool without arguments lists none; a part that lists none has keys of any name.
    const listsSome = isJsonObject(properties) && (pointer === '' || Object.keys(properties).length > 0);
    if (isMap || (!listsSome && additionalProperties !== false)) {
      return this.#refuse('strict_open', 'it has an object with keys that it does not list', pointer);
    }
    if (additionalProperties !== false) {
      this.#step(pointer, 'additionalProperties', 'lowered', 'The object takes no keys but those that it lists.');
    }
    const listed = isJsonObject(properties) ? Object.entries(properties) : [];
    const required = Array.isArray(given.required) ? given.required.filter((name) => typeof name === 'string') : [];
    const missing = required.find((name) => !listed.some(([key]) => key === name));
    if (missing !== undefined) {
      return this.#refuse('strict_unlisted', `it requires "${missing}", which it does not list`, pointer);
    }
    const possible = listed.filter(([name, property]) => property !== false || required.includes(name));
    if (possible.length < listed.length) {
      this.#step(pointer, 'properties', 'lowered', 'Properties that may never be there are left out.');
    }
    const needed = [...required];
    for (const [name, property] of this.#options.defaultsRequired === true ? possible : []) {
      if (needed.includes(name) || !isJsonObject(property) || property.default === undefined) continue;
      needed.push(name);
      const text = `"${name}" may be left out and has a default: here it has to be given, which counts as none of the optional ones.`;
      this.#step(`${pointer}/properties/${pointerSegment(name)}`, 'required', 'lowered', text);
    }
    const compiled = possible.map(([name, property]): [string, Json] => [
      name,
      this.#schema(property, `${pointer}/properties/${pointerSegment(name)}`),
    ]);
    return {
      properties: Object.fromEntries(compiled),
      ...(needed.length > 0 && { required: [...new Set(needed)] }),
      additionalProperties: false,
    };
  }

  #array(given: JsonObject, pointer: string): JsonObject {
    const { minItems } = given;
    const least = typeof minItems === 'number' && minItems >= 1 ? 1 : minItems;
    if (typeof minItems === 'number' && minItems > 1) {
      this.#step(pointer, 'minItems', 'lowered', `At least ${minItems} items is said as at least one, and in words.`);
    }
    const items = this.#items(given, pointer);
    return { ...(items !== null && { items }), ...(typeof least === 'number' && { minItems: least }) };
  }

  #items({ items, prefixItems }: JsonObject, pointer: string): JsonObject | null {
    if (!Array.isArray(prefixItems)) {
      return isJsonObject(items) && !isAny(items) ? this.#schema(items, `${pointer}/items`) : null;
    }
    if (items !== false && (!isJsonObject(items) || isAny(items))) return null;
    const forms = prefixItems.map((form, at) => this.#schema(form, `${pointer}/prefixItems/${at}`));
    if (items !== false) forms.push(this.#schema(items, `${pointer}/items`));
    const text = 'The items of a tuple are said as items that are of one of its kinds, and in words.';
    this.#step(pointer, 'prefixItems', 'lowered', text);
    const unique = [...new Map(forms.map((form) => [JSON.stringify(form), form])).values()];
    return unique.length === 1 ? (unique[0] ?? null) : { anyOf: unique };
  }

  #string({ format, pattern }: JsonObject): JsonObject {
    return { ...(format !== undefined && { format }), ...(pattern !== undefined && { pattern }) };
  }

  /** The name by which the definition of what is referred to is found. */
  #reference($ref: string, pointer: string): string {
    const target = resolveLocal(this.#root, $ref);
    if (!isJsonObject(target)) {
      this.#refuse('strict_any_value', 'it refers to something that takes any value', pointer);
      return $ref;
    }
    const known = this.#names.get(target);
    if (known !== undefined) return `#/$defs/${known}`;
    const direct = /^#\/\$defs\/([A-Za-z0-9_.-]+)$/.exec($ref)?.[1];
    const wanted = direct ?? ($ref.split('/').at(-1) ?? '').replace(/[^A-Za-z0-9_.-]/g, '_');
    const taken = new Set(this.#names.values());
    let name = wanted === '' ? 'part' : wanted;
    for (let n = 2; taken.has(name); n++) name = `${wanted}_${n}`;
    this.#names.set(target, name);
    if (direct !== name) {
      this.#step(pointer, '$ref', 'lowered', `What it refers to is the definition "${name}" now.`);
    }
    this.#definitions.set(name, this.#schema(target, $ref.startsWith('#') ? $ref.slice(1) : $ref));
    return `#/$defs/${name}`;
  }

  /** What can't be said is told, and otherwise checked here alone. */
  #described(made: JsonObject, words: JsonObject, pointer: string): JsonObject {
    const gone = untaken(words);
    const told: string[] = [];
    const kept = Object.fromEntries(
      Object.entries(made).filter(([keyword]) => !(AS_GIVEN.includes(keyword) && gone.includes(keyword))),
    );
    for (const keyword of gone) {
      const said = `${keyword}: ${JSON.stringify(words[keyword])}`;
      if (said.length > MOST_TOLD) {
        this.#step(pointer, keyword, 'checked_here', `"${keyword}" is too long to be told; calls are held to it.`);
        continue;
      }
      told.push(said);
      this.#step(pointer, keyword, 'described', `${said} is told in the description; calls are held to it.`);
    }
    if (told.length === 0) return kept;
    const all = told.join(', ');
    return { ...kept, description: typeof made.description === 'string' ? `${made.description} (${all})` : all };
  }
}

/** What is taken over as it was given; the rest of a schema was made anew, so that it is taken. */
const AS_GIVEN = ['format', 'pattern'];

function pick(schema: JsonObject, keywords: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keywords.includes(keyword)));
}

function isAny(schema: JsonObject): boolean {
  return Object.keys(schema).every((keyword) => ANNOTATIONS.includes(keyword));
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function isWhole(value: Json, types: readonly string[]): boolean {
  return types.includes('integer') && Number.isInteger(value);
}

function isRecursive(root: JsonObject): boolean {
  const done = new Set<JsonObject>();
  const open = new Set<JsonObject>();
  const visit = (schema: Json | undefined): boolean => {
    if (!isJsonObject(schema) || done.has(schema)) return false;
    if (open.has(schema)) return true;
    open.add(schema);
    const found = Object.entries(schema).some(([keyword, value]) =>
      keyword === '$ref' && typeof value === 'string'
        ? visit(resolveLocal(root, value))
        : subschemasOf(keyword, value).some(([, member]) => visit(member)),
    );
    open.delete(schema);
    done.add(schema);
    return found;
  };
  return visit(root);
}
