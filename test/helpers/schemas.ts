/** Schemas as people and generators write them, and worse; and values that are meant to fit one. */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/contracts/index.ts';

const NAMES = ['a', 'b', 'kind', 'odd name', '__proto__'];
const WORDS = ['red', 'Red', 'blue', '', '2026-01-31', 'a\u200b'];
const name = fc.constantFrom(...NAMES.slice(0, 3));
const word = fc.constantFrom(...WORDS);
const number = fc.constantFrom(0, 1, 2.5, -3, 10);
const scalar = fc.oneof(word, number, fc.boolean(), fc.constant(null)) as fc.Arbitrary<Json>;
const compound = fc.oneof(scalar, fc.array(scalar, { maxLength: 2 }), fc.dictionary(name, scalar, { maxKeys: 2 }));
const types = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'object', 'array');

/** Some of these members, each there or not. */
function some(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> {
  return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
}

const notes = some({
  description: fc.constantFrom('What it is.', ''),
  title: word,
  default: scalar,
  examples: fc.array(scalar, { maxLength: 1 }),
});

/** @param wild with what can't be said strictly as well: open objects, values of any type, schemas within themselves */
const schemaOf = (wild: boolean): fc.Arbitrary<Json> =>
  fc.letrec<{ schema: Json }>((tie) => {
    const inner = tie('schema') as fc.Arbitrary<Json>;
    const many = fc.array(inner, { minLength: 1, maxLength: 3 });
    const with_ = (...parts: fc.Arbitrary<JsonObject>[]) =>
      fc.tuple(notes, ...parts).map((all) => Object.assign({}, ...all) as JsonObject);
    const type = (each: string) => fc.constant({ type: each });
    const text = with_(
      type('string'),
      some({
        minLength: fc.constant(1),
        maxLength: fc.constant(20),
        pattern: fc.constantFrom('^[a-z]+$', '^(?!x)', '\\bword', 'r{2,400}', 'e'),
        format: fc.constantFrom('date', 'ulid', 'email'),
        enum: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
        nullable: fc.boolean(),
      }),
    );
    const amount = with_(
      fc.constantFrom({ type: 'number' }, { type: 'integer' }, { type: ['integer', 'null'] }, { type: ['number'] }),
      some({ minimum: number, maximum: fc.constant(5), multipleOf: fc.constant(0.5), exclusiveMinimum: fc.boolean() }),
    );
    const object = with_(
      fc.constantFrom({ type: 'object' }, { type: 'object' }, {}, { type: ['object', 'null'] }),
      fc.tuple(inner, fc.dictionary(name, inner, { maxKeys: 2 })).map(([a, rest]) => ({ properties: { a, ...rest } })),
      some({
        required: fc.uniqueArray(wild ? name : fc.constant('a'), { maxLength: 2 }),
        additionalProperties: fc.constantFrom<Json>(false, false, ...(wild ? [true, { type: 'string' }] : [])),
        minProperties: fc.constant(1),
        dependentRequired: fc.constant({ a: ['b'] }),
        if: fc.constant({ required: ['a'] }),
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: fc.constant({ required: ['b'] }),
        anyOf: many,
        allOf: many,
      }),
    );
    const list = with_(
      type('array'),
      some({ items: inner, prefixItems: many, minItems: fc.constantFrom(0, 1, 2), maxItems: fc.constant(3) }),
      some({ uniqueItems: fc.boolean(), contains: inner }),
    );
    const literal = with_(
      fc.oneof(
        fc.record({ enum: fc.array(compound, { minLength: 1, maxLength: 3 }) }),
        fc.record({ const: compound }),
      ) as fc.Arbitrary<JsonObject>,
      some({ type: types }),
    );
    const choice = with_(
      fc.oneof(
        fc.record({ anyOf: many }),
        fc.record({ oneOf: many }),
        fc.record({ allOf: many }),
      ) as fc.Arbitrary<JsonObject>,
      some({ type: types, not: fc.constant({ const: 'blue' }), minLength: fc.constant(1) }),
    );
    const reference = with_(
      fc.record({
        $ref: fc.constantFrom(
          '#/$defs/one',
          '#/$defs/o%20dd',
          ...(wild ? ['#', '#/properties/a', '#/definitions/old'] : []),
        ),
      }) as fc.Arbitrary<JsonObject>,
      some({ minLength: fc.constant(1) }),
    );
    return {
      schema: fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        fc.oneof(text, amount, literal, fc.constant<Json>({ type: 'boolean' })),
        object,
        list,
        choice,
        reference,
        ...(wild ? [fc.constantFrom<Json>(true, false, {}, { description: 'Anything.' })] : []),
      ),
    };
  }).schema;

const PLAIN = {
  one: { type: 'string', enum: ['red', 'x'] },
  'o dd': { type: 'object', properties: { b: { type: 'null' } } },
};

function schemas(wild: boolean): fc.Arbitrary<JsonObject> {
  const schema = schemaOf(wild);
  return fc
    .tuple(
      schema,
      fc.dictionary(name, schema, { maxKeys: 3 }),
      some(wild ? { one: schema, 'o dd': schema } : {}),
      schema,
    )
    .chain(([a, properties, $defs, also]) =>
      some({
        required: fc.uniqueArray(wild ? name : fc.constant('a'), { maxLength: 2 }),
        additionalProperties: fc.constantFrom<Json>(false, ...(wild ? [true] : [])),
        anyOf: fc.constantFrom<Json>(
          [{ properties: { b: also } }, { required: ['a'] }],
          [{ properties: { b: also } }, { properties: { b: { type: 'null' } }, required: ['a'] }],
        ),
        oneOf: fc.constant([also, { properties: { b: { type: 'string' } } }]),
      }).map((more) => ({
        type: 'object',
        properties: { a, ...properties },
        $defs: { ...PLAIN, ...$defs },
        ...(wild && { definitions: { old: also } }),
        ...more,
      })),
    );
}

/** A schema of arguments, as a server or an author may give it. */
export const inputSchemas = schemas(true);
/** One that can be said strictly, as a rule. */
export const soundSchemas = schemas(false);

/** Something that may fit, with no keys but those that it lists; what comes out has to be checked. */
export function sample(root: JsonObject, given: Json, pick: (most: number) => number, depth = 0): Json {
  if (given === true || given === false || typeof given !== 'object' || given === null) return 'x';
  const from = <T>(choices: readonly T[]): T => choices[pick(choices.length)] as T;
  const it = given as JsonObject;
  const inner = (each: Json): Json => (depth > 8 ? null : sample(root, each, pick, depth + 1));
  if (typeof it.$ref === 'string') return inner(target(root, it.$ref));
  if (it.const !== undefined) return it.const;
  if (Array.isArray(it.enum)) return from(it.enum);
  const parts = [...(Array.isArray(it.allOf) ? it.allOf : [])];
  for (const forms of [it.anyOf, it.oneOf]) if (Array.isArray(forms)) parts.push(from(forms));
  const made = parts.map(inner);
  const type = Array.isArray(it.type) ? from(it.type) : it.type;
  if (it.nullable === true && pick(3) === 0) return null;
  if (it.properties !== undefined || type === 'object') {
    const required = Array.isArray(it.required) ? it.required : [];
    const listed = Object.entries((it.properties ?? {}) as JsonObject).filter(
      ([key]) => required.includes(key) || pick(2) === 0,
    );
    const own = listed.map(([key, each]) => [key, inner(each)] as const);
    return Object.assign(
      {},
      ...made.filter((each) => typeof each === 'object' && !Array.isArray(each)),
      Object.fromEntries(own),
    ) as Json;
  }
  if (made.length > 0) return made[0] ?? null;
  if (type === 'array') {
    const first = Array.isArray(it.prefixItems) ? it.prefixItems.map(inner) : [];
    const more =
      it.items === undefined || it.items === false
        ? []
        : Array.from({ length: pick(3) }, () => inner(it.items ?? true));
    return [...first, ...more];
  }
  if (type === 'number' || type === 'integer') return from([0, 1, 2, 2.5, 10]);
  if (type === 'boolean') return pick(2) === 0;
  return type === 'null' ? null : from(WORDS);
}

function target(root: JsonObject, ref: string): Json {
  let at: Json = root;
  for (const step of decodeURIComponent(ref.slice(1)).split('/').slice(1)) {
    at = typeof at === 'object' && at !== null && !Array.isArray(at) ? (at[step] ?? true) : true;
  }
  return at;
}
