import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject, ServerRef, ToolDefinition } from '../src/contracts/index.ts';
import { checkMessagesRequest } from '../src/testing/index.ts';
import {
  apiToolEntry,
  compileSchema,
  definitionFromMcp,
  isJsonObject,
  rawFrom,
  rawJson,
  strictTool,
} from '../src/tools/index.ts';
import { strictSchema } from '../src/tools/strict-schema.ts';
import { inputSchemas, sample, soundSchemas } from './helpers/schemas.ts';
import { propertySeed } from './helpers/property-seed.ts';

const RUNS = Number(process.env.BRIDLE_PROPERTY_RUNS ?? 2_000);
const SEED = propertySeed();
/** Files with a definition a line (`{name, description, inputSchema}`), to try more than what is here. */
const DEFINITIONS = (process.env.BRIDLE_DEFINITIONS ?? '').split(':').filter((file) => file !== '');
const TIMEOUT_MS = 3_600_000;

const server: ServerRef = { key: 's', scope: 'user', fingerprint: 'f', trustAnnotations: false };

function toolOf(inputSchema: Json): ToolDefinition | null {
  const read = definitionFromMcp(server, rawFrom({ name: 't', description: 'Does it.', inputSchema }));
  return 'tool' in read ? read.tool : null;
}

const refusedOf = (tool: ToolDefinition): readonly unknown[] =>
  (['strict', 'defaults_required'] as const).flatMap((strictness) =>
    checkMessagesRequest({
      model: 'claude-sonnet-5-5',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Do it.' }],
      tools: [apiToolEntry(tool, strictness)],
    }),
  );

/** Limits of a request are no matter of one schema: who plans a request keeps them. */
const isLimit = (breach: unknown): boolean => /too many (?:optional|parameters)/.test(JSON.stringify(breach));

test('whatever the schema, its strict form is one that the API takes', { timeout: TIMEOUT_MS }, () => {
  let strict = 0;
  fc.assert(
    fc.property(fc.oneof(inputSchemas, soundSchemas), (schema) => {
      const tool = toolOf(schema);
      if (tool === null) return;
      if ('schema' in strictTool(tool)) strict += 1;
      expect(refusedOf(tool).filter((breach) => !isLimit(breach))).toEqual([]);
    }),
    { numRuns: RUNS, seed: SEED },
  );
  console.log(`${RUNS} schemas (seed ${SEED}): ${strict} with a strict form`);
  expect(strict).toBeGreaterThan(RUNS / 50);
});

test('what a tool takes, with no keys but those that it lists, its strict form takes as well', {
  timeout: TIMEOUT_MS,
}, async () => {
  let tried = 0;
  await fc.assert(
    fc.asyncProperty(soundSchemas, fc.infiniteStream(fc.nat(1_000)), async (schema, numbers) => {
      const tool = toolOf(schema);
      const form = tool && strictTool(tool);
      if (!form || 'refused' in form) return;
      const own = await compileSchema(schema, { origin: 'own' });
      const strict = await compileSchema(form.schema, { origin: 'own' });
      const pick = (most: number) => (numbers.next().value ?? 0) % most;
      for (let n = 0; n < 5; n += 1) {
        const value = sample(schema, schema, pick);
        if (own.check(value).length > 0) continue;
        tried += 1;
        expect({ value, issues: strict.check(value), form: form.schema }).toEqual({
          value,
          issues: [],
          form: form.schema,
        });
      }
    }),
    { numRuns: RUNS / 4, seed: SEED },
  );
  expect(tried).toBeGreaterThan(RUNS / 100);
});

test('real definitions have forms that the API takes', { timeout: TIMEOUT_MS }, () => {
  const lines = DEFINITIONS.filter((file) => existsSync(file)).flatMap((file) =>
    readFileSync(file, 'utf8').split('\n'),
  );
  for (const line of lines.filter((each) => each !== '')) {
    const { inputSchema } = JSON.parse(line) as JsonObject;
    const tool = toolOf(inputSchema ?? { type: 'object' });
    expect(tool && refusedOf(tool).filter((breach) => !isLimit(breach)), line).toEqual([]);
  }
});

/** Definitions each of which refers to the next one twice: written out they would be without end. */
const doubling = (count: number): JsonObject => ({
  type: 'object',
  properties: { a: { allOf: [{ $ref: '#/$defs/d0' }] } },
  $defs: Object.fromEntries(
    Array.from({ length: count }, (_, n): [string, Json] => [
      `d${n}`,
      {
        type: 'object',
        properties: {
          a: { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { description: 'a' }] },
          b: { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { description: 'b' }] },
        },
      },
    ]).concat([[`d${count}`, { type: 'string' }]]),
  ),
});

test.each<[string, Json]>([
  ['a reference to itself', { type: 'object', properties: { a: { $ref: '#' } } }],
  [
    'two definitions in a circle',
    {
      type: 'object',
      properties: { a: { $ref: '#/$defs/x' } },
      $defs: { x: { $ref: '#/$defs/y' }, y: { type: 'array', items: { $ref: '#/$defs/x' } } },
    },
  ],
  ['an enum of 100,000', { type: 'object', properties: { a: { enum: Array.from({ length: 100_000 }, (_, n) => n) } } }],
  ['definitions that double', doubling(24)],
  ['a reference to another document', { type: 'object', properties: { a: { $ref: 'https://example.com/a' } } }],
  ['a reference to nothing', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }],
  ['an open map', { type: 'object', properties: { a: { type: 'object', additionalProperties: { type: 'number' } } } }],
  ['a key that it requires and does not list', { type: 'object', properties: {}, required: ['a'] }],
  ['a value of any type', { type: 'object', properties: { a: {} } }],
])('%s is refused with a reason, and nothing breaks', (_, schema) => {
  expect(isJsonObject(schema) && strictSchema(schema)).toMatchObject({
    refused: { text: expect.stringMatching(/^It/) },
  });
  const tool = toolOf(schema);
  if (tool) expect(apiToolEntry(tool, 'strict')).not.toHaveProperty('strict');
});

const TEXT = { type: 'string' };
const EXTRA = { properties: { extra: TEXT }, required: ['extra'] };
const IF = { properties: { kind: { const: 'x' } } };
const when = (branch: string, schema: JsonObject): JsonObject => ({ if: IF, [branch]: schema });
const KIND = { type: 'object', properties: { kind: TEXT } };

test.each<[string, JsonObject]>([
  ['a condition', when('then', EXTRA)],
  ['a value that an alternative is', { anyOf: [{ const: { extra: 'x' } }, KIND] }],
  ['the other side of one', when('else', EXTRA)],
  [
    'one of several conditions',
    {
      allOf: [when('then', EXTRA), when('then', { required: ['kind'] })],
    },
  ],
  ['a schema that goes with another key', { dependentSchemas: { kind: EXTRA } }],
  ['names that go with another key', { dependentRequired: { kind: ['extra'] } }],
  ['the same in an older draft', { dependencies: { kind: ['extra'] } }],
  ['what one of the alternatives requires', { anyOf: [{ required: ['kind'] }, { required: ['extra'] }] }],
  ['alternatives within alternatives', { anyOf: [{ properties: { b: TEXT } }, { oneOf: [EXTRA, { title: 'none' }] }] }],
  ['second alternatives beside the first', { anyOf: [{ title: 'a' }], oneOf: [{ anyOf: [EXTRA, { title: 'b' }] }] }],
  [
    'the second of two lists of alternatives',
    { allOf: [{ anyOf: [{ properties: { b: TEXT } }] }, { anyOf: [{ properties: { c: TEXT } }, { allOf: [EXTRA] }] }] },
  ],
])('a key that only %s speaks of can be given: the tool is not made strict without it', async (_, more) => {
  for (const schema of [
    { ...KIND, ...more },
    { type: 'object', properties: { o: { ...KIND, ...more } } },
    { type: 'object', properties: { o: { $ref: '#/$defs/o', ...more } }, $defs: { o: KIND } },
  ] as JsonObject[]) {
    const tool = toolOf(schema);
    const form = tool && strictTool(tool);
    if (!form) throw new Error('no tool');
    if ('schema' in form) expect(JSON.stringify(form.schema.properties)).toContain('"extra":{');
    else expect(form.refused.text).toMatch(/"extra"|"c"|can not be put together|another takes anything/);
  }
});

test.each<[string, JsonObject]>([
  ['no properties', { type: 'object', properties: {} }],
  ['properties that are held to something when nothing else is', { ...KIND, unevaluatedProperties: TEXT }],
])('a part with %s has keys of any name, and can not be strict', (_, o) => {
  expect(strictSchema({ type: 'object', properties: { o } })).toHaveProperty('refused.code', 'strict_open');
});

test.each<[string, JsonObject]>([
  ['at the top', { ...KIND, anyOf: [{ properties: { b: { type: 'integer' } } }, { required: ['kind'] }] }],
  [
    'behind a reference',
    {
      type: 'object',
      properties: { o: { $ref: '#/$defs/o' } },
      $defs: { o: { ...KIND, oneOf: [{ properties: { b: TEXT } }, { properties: { c: TEXT } }] } },
    },
  ],
])(
  'a key that one alternative lists and another leaves free, %s, may hold anything: the tool is not strict',
  (_, schema) => {
    const tool = toolOf(schema);
    expect(tool && strictTool(tool)).toMatchObject({
      refused: { text: expect.stringContaining('another takes anything') },
    });
  },
);

test('values have the types that they are of, and no others that would have to be said in full', () => {
  const form = strictSchema({ type: 'object', properties: { a: { type: ['object', 'null'], enum: [null, 1] } } });
  expect(form).toHaveProperty('schema.properties.a', expect.objectContaining({ type: 'null', enum: [null] }));
});

test('a tool without arguments can be strict', () => {
  expect(strictSchema({ type: 'object', properties: {} })).toHaveProperty('schema.additionalProperties', false);
});

test('what is of several types counts behind a reference and in a list, too', () => {
  const either = { anyOf: [TEXT, { type: 'integer' }] };
  const form = strictSchema({
    type: 'object',
    properties: { a: { $ref: '#/$defs/e' }, b: { $ref: '#/$defs/e' }, c: { type: 'array', items: either }, d: TEXT },
    $defs: { e: either },
  });
  expect(form).toHaveProperty('needs', { optional: 4, unions: 3 });
});

test('5,000 levels are refused with a reason, and nothing breaks', () => {
  const depth = 5_000;
  const text = `${'{"type":"object","properties":{"a":'.repeat(depth)}{"type":"string"}${'}}'.repeat(depth)}`;
  expect(strictSchema(JSON.parse(text) as JsonObject)).toHaveProperty('refused.code', 'schema_too_deep');
  const read = definitionFromMcp(server, rawJson(`{"name":"t","inputSchema":${text}}`));
  expect(read).not.toHaveProperty('tool');
});
