import type { Json, JsonObject } from '../../contracts/index.ts';
import { docs, type Rule, report } from './rule.ts';
import { ASK, ask, CODE, strict, tool } from './samples.ts';
import { arrayOf, isObject, isString, type Placed, readOnce } from './shape.ts';
import { customTools } from './tools.ts';

const MOST_STRICT = 20;
const MOST_OPTIONAL = 24;
const MOST_UNIONS = 16;
const LISTS = ['anyOf', 'allOf', 'oneOf', 'prefixItems'];
const MAPS = ['properties', '$defs', 'definitions'];
/** What a schema may not say, by the type that it says it of. */
const UNSUPPORTED: readonly (readonly [type: string, fields: readonly string[]])[] = [
  ['number', ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf']],
  ['integer', ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf']],
  ['string', ['maxLength', 'minLength']],
  ['array', ['maxItems', 'uniqueItems']],
  ['object', ['minProperties', 'maxProperties']],
];
/** What no schema may say, whatever it is of. Keywords that the API doesn't know it passes over. */
const UNTAKEN = [
  ...['patternProperties', 'propertyNames', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties'],
  ...['if', 'then', 'else', 'not', 'prefixItems'],
];
const FORMATS = 'date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' ');

interface Schema extends Placed {
  /** A property of this name, in these properties. */
  readonly property?: { readonly name: string; readonly of: JsonObject };
}

/** All schemas in a schema, with where they stand. */
function parts(path: string, schema: Json | undefined, property?: Schema['property']): readonly Schema[] {
  if (!isObject(schema)) return [];
  return [
    { path, block: schema, ...(property && { property }) },
    ...parts(`${path}.items`, schema.items),
    ...LISTS.flatMap((key) => arrayOf(schema[key]).flatMap((each, at) => parts(`${path}.${key}.${at}`, each))),
    ...MAPS.flatMap((key) =>
      Object.entries(isObject(schema[key]) ? schema[key] : {}).flatMap(([name, each]) =>
        parts(`${path}.${key}.${name}`, each, key === 'properties' ? { name, of: schema } : undefined),
      ),
    ),
  ];
}

function strictTools(body: JsonObject): readonly Placed[] {
  return customTools(body).filter(({ block }) => block.strict === true);
}

/** All schemas that a grammar is compiled from: those of strict tools, and the output's. */
function compiled(body: JsonObject): readonly Schema[] {
  return readOnce(body, 'compiled', () => {
    const config = isObject(body.output_config) ? body.output_config.format : undefined;
    return [
      ...strictTools(body).flatMap(({ path, block }) => parts(`${path}.custom.input_schema`, block.input_schema)),
      ...(isObject(config) ? parts('output_config.format.schema', config.schema) : []),
    ];
  });
}

const refs = ({ block }: Schema): string | undefined => (isString(block.$ref) ? block.$ref : undefined);

/** The name in `#/$defs/NAME` that a definition leads back to itself by. */
function circle(schema: Json | undefined): string | undefined {
  if (!isObject(schema)) return undefined;
  const named = new Map<string, readonly string[]>();
  for (const key of ['$defs', 'definitions']) {
    for (const [name, each] of Object.entries(isObject(schema[key]) ? schema[key] : {})) {
      named.set(`#/${key}/${name}`, parts('', each).map(refs).filter(isString));
    }
  }
  if (parts('', schema).some((part) => refs(part) === '#')) return '#';
  const reaches = (from: string, to: string, seen: Set<string>): boolean =>
    (named.get(from) ?? []).some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  return [...named.keys()].find((name) => reaches(name, name, new Set()));
}

const field = (schema: JsonObject): JsonObject => strict({ properties: { a: schema }, required: ['a'] });
const withField = (schema: JsonObject): JsonObject => ask({ tools: [field(schema)] });
const many = (count: number, each: (at: number) => JsonObject): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, each(at)]));

export const STRICT_RULES: readonly Rule[] = [
  {
    id: 'strict-closed',
    refuses: 'with a strict schema in which an object may have more properties than it names',
    source: report("the API words it \"For 'object' type, 'additionalProperties' must be explicitly set to false\""),
    check: (body) =>
      compiled(body)
        .filter(({ block }) => isOf(block, 'object') && block.additionalProperties !== false)
        .map(({ path }) => `${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`),
    breach: ask({ tools: [tool({ strict: true })] }),
    keeps: ask({ tools: [strict({})] }),
  },
  {
    id: 'strict-keywords',
    refuses: 'with a strict schema that bounds numbers, lengths or counts',
    source: report('the API words it "For \'integer\' type, properties maximum, minimum are not supported"'),
    check: (body) =>
      compiled(body).flatMap(({ path, block }) =>
        UNSUPPORTED.flatMap(([type, fields]) => {
          const used = isOf(block, type) ? fields.filter((each) => block[each] !== undefined) : [];
          if (used.length === 0) return [];
          const are = used.length === 1 ? `property '${used[0]}' is` : `properties ${used.join(', ')} are`;
          return [`${path}: For '${type}' type, ${are} not supported`];
        }),
      ),
    breach: withField({ type: 'integer', minimum: 1 }),
    keeps: withField({ type: 'integer' }),
  },
  {
    id: 'strict-untaken',
    refuses: 'with a strict schema that has conditions, negations, tuples, or patterns of names',
    source: report('the API words it "property \'prefixItems\' is not supported"'),
    check: (body) =>
      compiled(body).flatMap(({ path, block }) =>
        UNTAKEN.filter((each) => block[each] !== undefined).map(
          (each) => `${path}: For '${String(block.type)}' type, property '${each}' is not supported`,
        ),
      ),
    breach: withField({ type: 'string', not: { const: 'x' } }),
    keeps: withField({ type: 'string', enum: ['y', 'z'] }),
  },
  {
    id: 'strict-one-of',
    refuses: 'with a strict schema that has oneOf',
    source: report('the API words it "Schema type \'oneOf\' is not supported"'),
    check: (body) =>
      compiled(body)
        .filter(({ block }) => block.oneOf !== undefined)
        .map(({ path }) => `${path}: Schema type 'oneOf' is not supported`),
    breach: ask({ tools: [strict(listed({ oneOf: [{ type: 'string' }, { type: 'null' }] }))] }),
    keeps: ask({ tools: [strict(listed({ anyOf: [{ type: 'string' }, { type: 'null' }] }))] }),
  },
  {
    id: 'strict-all-of-ref',
    refuses: 'with a strict schema whose allOf has a reference',
    source: docs('Structured outputs: JSON Schema limitations'),
    check: (body) =>
      compiled(body)
        .filter(({ block }) => arrayOf(block.allOf).some((each) => isObject(each) && each.$ref !== undefined))
        .map(({ path }) => `${path}.allOf: allOf with $ref is not supported`),
    breach: withDefinition({ allOf: [{ $ref: '#/$defs/s' }] }),
    keeps: withDefinition({ allOf: [{ type: 'string' }] }),
  },
  {
    id: 'strict-min-items',
    refuses: 'with a strict schema whose minItems is neither 0 nor 1',
    source: report("the API words it \"For 'array' type, 'minItems' values other than 0 or 1 are not supported\""),
    check: (body) =>
      compiled(body)
        .filter(({ block }) => block.minItems !== undefined && block.minItems !== 0 && block.minItems !== 1)
        .map(({ path }) => `${path}: For 'array' type, 'minItems' values other than 0 or 1 are not supported`),
    breach: withField({ type: 'array', items: { type: 'string' }, minItems: 2 }),
    keeps: withField({ type: 'array', items: { type: 'string' }, minItems: 1 }),
  },
  {
    id: 'strict-format',
    refuses: 'with a strict schema that has a format the API does not know',
    source: docs('Structured outputs: JSON Schema limitations'),
    check: (body) =>
      compiled(body)
        .filter(({ block }) => isString(block.format) && !FORMATS.includes(block.format))
        .map(({ path, block }) => `${path}: For 'string' type, format '${String(block.format)}' is not supported`),
    breach: withField({ type: 'string', format: 'phone' }),
    keeps: withField({ type: 'string', format: 'date' }),
  },
  {
    id: 'strict-pattern',
    refuses: 'with a strict schema whose pattern looks around or back',
    source: docs('Structured outputs: JSON Schema limitations'),
    check: (body) =>
      compiled(body)
        .filter(({ block }) => isString(block.pattern) && /\(\?<?[=!]|\\[1-9]|\\k<|\\[bB]/.test(block.pattern))
        .map(({ path }) => `${path}: pattern uses a feature that is not supported (look-around or back-reference)`),
    breach: withField({ type: 'string', pattern: '^(?!x)' }),
    keeps: withField({ type: 'string', pattern: '^[a-z]+$' }),
  },
  {
    id: 'strict-enum',
    refuses: 'with a strict schema whose enum has members that are objects or lists',
    source: docs('Structured outputs: JSON Schema limitations'),
    check: (body) =>
      compiled(body)
        .filter(({ block }) => arrayOf(block.enum).some((member) => typeof member === 'object' && member !== null))
        .map(({ path }) => `${path}.enum: enum members must be strings, numbers, booleans or null`),
    breach: withField({ enum: [{ a: 1 }] }),
    keeps: withField({ enum: ['a', 1, null] }),
  },
  {
    id: 'strict-recursion',
    refuses: 'with a strict schema that contains itself',
    source: report('the API words it "Circular reference detected in schema definitions: A -> A"'),
    check: (body) =>
      [...strictTools(body).map(({ block }) => block.input_schema), outputSchema(body)].flatMap((schema) => {
        const name = circle(schema)?.replace(/^#\/(?:\$defs|definitions)\//, '');
        return name === undefined ? [] : [`Circular reference detected in schema definitions: ${name} -> ${name}`];
      }),
    breach: withDefs({ $ref: '#/$defs/node' }),
    keeps: withDefs({ type: 'string' }),
  },
  {
    id: 'strict-external-ref',
    refuses: 'with a strict schema that refers to another document',
    source: docs('Structured outputs: JSON Schema limitations'),
    check: (body) =>
      compiled(body)
        .filter((part) => refs(part) !== undefined && !refs(part)?.startsWith('#'))
        .map((part) => `${part.path}: external $ref '${refs(part)}' is not supported`),
    breach: withField({ $ref: 'https://example.com/schema.json' }),
    keeps: ask({
      tools: [strict({ $defs: { s: { type: 'string' } }, properties: { a: { $ref: '#/$defs/s' } }, required: ['a'] })],
    }),
  },
  {
    id: 'strict-count',
    refuses: 'with more than 20 strict tools',
    source: docs('Strict tool use: limits per request'),
    check(body) {
      const count = strictTools(body).length;
      return count > MOST_STRICT
        ? [`tools: Too many strict tools (${count}). Reduce the number of strict tools (limit: ${MOST_STRICT}).`]
        : [];
    },
    breach: ask({ tools: Array.from({ length: 21 }, (_, n) => strict({}, { name: `t${n}` })) }),
    keeps: ask({ tools: Array.from({ length: 20 }, (_, n) => strict({}, { name: `t${n}` })) }),
  },
  {
    id: 'strict-optional',
    refuses: 'with more than 24 optional parameters in its strict schemas',
    source: report('the API words it "Schemas contains too many optional parameters (87) … (limit: 24)."'),
    check(body) {
      const count = compiled(body).filter(
        ({ property }) => property && !arrayOf(property.of.required).includes(property.name),
      ).length;
      return count > MOST_OPTIONAL
        ? [
            `Schemas contains too many optional parameters (${count}), which would make grammar compilation inefficient. ` +
              `Reduce the number of optional parameters in your tool schemas (limit: ${MOST_OPTIONAL}).`,
          ]
        : [];
    },
    breach: ask({ tools: [strict({ properties: many(25, () => ({ type: 'string' })) })] }),
    keeps: ask({ tools: [strict({ properties: many(24, () => ({ type: 'string' })) })] }),
  },
  {
    id: 'strict-unions',
    refuses: 'with more than 16 parameters of several types in its strict schemas',
    source: report('the API words it "Schemas contains too many parameters with union types (24 …) … limit: 16"'),
    check(body) {
      const count = compiled(body).filter(
        ({ block, property }) => property && (Array.isArray(block.type) || Array.isArray(block.anyOf)),
      ).length;
      return count > MOST_UNIONS
        ? [
            `Schemas contains too many parameters with union types (${count} parameters with type arrays or anyOf). ` +
              `Reduce the number of nullable or union-typed parameters (limit: ${MOST_UNIONS}).`,
          ]
        : [];
    },
    breach: unions(17),
    keeps: unions(16),
  },
  {
    id: 'strict-programmatic',
    refuses: 'with a strict tool that code may call',
    source: docs('Programmatic tool calling: constraints'),
    check: (body) =>
      strictTools(body)
        .filter(({ block }) => arrayOf(block.allowed_callers).some((caller) => caller !== 'direct'))
        .map(({ path }) => `${path}.custom.strict: strict is not supported with programmatic tool calling`),
    breach: programmatic({ strict: true }),
    keeps: programmatic({}),
  },
];

function isOf({ type }: JsonObject, name: string): boolean {
  return type === name || arrayOf(type).includes(name);
}

function outputSchema({ output_config: config }: JsonObject): Json | undefined {
  return isObject(config) && isObject(config.format) ? config.format.schema : undefined;
}

function withDefs(child: JsonObject): JsonObject {
  const node = { type: 'object', additionalProperties: false, properties: { child }, required: ['child'] };
  return ask({ tools: [strict({ $defs: { node }, properties: { a: { $ref: '#/$defs/node' } }, required: ['a'] })] });
}

/** Below an array, where alternatives count as no parameter of several types. */
function listed(items: JsonObject): JsonObject {
  return { properties: { a: { type: 'array', items } }, required: ['a'] };
}

function withDefinition(schema: JsonObject): JsonObject {
  const properties = { a: schema, b: { $ref: '#/$defs/s' } };
  return ask({ tools: [strict({ $defs: { s: { type: 'string' } }, properties, required: ['a', 'b'] })] });
}

function unions(count: number): JsonObject {
  const properties = many(count, () => ({ type: ['string', 'null'] }));
  return ask({ tools: [strict({ properties, required: Object.keys(properties) })] });
}

function programmatic(more: JsonObject): JsonObject {
  const schema = { type: 'object', additionalProperties: false };
  return {
    ...ASK,
    model: 'claude-sonnet-4-6',
    tools: [CODE, tool({ input_schema: schema, allowed_callers: ['code_execution_20260120'], ...more })],
  };
}
