import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json, JsonObject, ServerRef } from '../contracts/index.ts';
import { checkTool, compileSchema, defineTool, definitionFromMcp, inspectSchema, rawFrom, toApiTool } from './index.ts';

const server: ServerRef = { key: 's', scope: 'user', fingerprint: 'f', trustAnnotations: false };

function fromSchema(inputSchema: Json): JsonObject {
  const read = definitionFromMcp(server, rawFrom({ name: 't', description: 'Does it.', inputSchema }));
  if (!('tool' in read)) throw new Error(JSON.stringify(read));
  return toApiTool(read.tool);
}

describe('toApiTool', () => {
  test('gives name, description and schema, and nothing that was not set', () => {
    expect(fromSchema({ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: {} })).toEqual({
      name: 'mcp__s__t',
      description: 'Does it.',
      input_schema: { type: 'object', properties: {} },
    });
  });

  test('gives no description where there is none', () => {
    const read = definitionFromMcp(server, rawFrom({ name: 't', inputSchema: { type: 'object' } }));
    if (!('tool' in read)) throw new Error(JSON.stringify(read));
    expect(toApiTool(read.tool)).toEqual({ name: 'mcp__s__t', input_schema: { type: 'object' } });
  });

  test('passes the hints of an own definition', () => {
    const { definition } = defineTool(
      {
        name: 'a',
        description: 'A.',
        input: z.object({ x: z.string() }),
        strict: true,
        examples: [{ x: '1' }],
        cacheControl: { type: 'ephemeral' },
        deferLoading: true,
        allowedCallers: ['direct'],
        eagerInputStreaming: true,
      },
      () => '',
    );
    expect(toApiTool(definition)).toEqual({
      name: 'a',
      description: 'A.',
      input_schema: definition.inputSchema,
      strict: true,
      input_examples: [{ x: '1' }],
      cache_control: { type: 'ephemeral' },
      defer_loading: true,
      allowed_callers: ['direct'],
      eager_input_streaming: true,
    });
  });

  test('lowers alternatives at the top: all their properties, the requirements they share, the rule in words', async () => {
    const { definition } = defineTool(
      {
        name: 'notify',
        description: 'Notifies.',
        input: z.discriminatedUnion('by', [
          z.object({ by: z.literal('mail'), address: z.string() }),
          z.object({ by: z.literal('call'), number: z.string() }),
        ]),
      },
      (input) => (input.by === 'mail' ? input.address : input.number),
    );
    const entry = toApiTool(definition);
    expect(entry.input_schema).toEqual({
      type: 'object',
      properties: {
        by: {
          anyOf: [
            { type: 'string', const: 'mail' },
            { type: 'string', const: 'call' },
          ],
        },
        address: { type: 'string' },
        number: { type: 'string' },
      },
      required: ['by'],
    });
    expect(entry.description).toContain('Notifies.\n\nThe arguments must fit exactly one of these JSON Schemas: [{');
    const { check } = await compileSchema(definition.inputSchema, { origin: 'own' });
    expect(check({ by: 'mail', address: 'x' })).toEqual([]);
    expect(check({ by: 'mail', number: 'x' })).not.toEqual([]);
  });

  test('tells the bounds that strict tool use refuses in words, and closes every object', () => {
    const { definition } = defineTool(
      {
        name: 'a',
        description: 'A.',
        strict: true,
        input: {
          type: 'object',
          properties: {
            n: { type: 'integer', minimum: 1, maximum: 9, description: 'How many' },
            code: { type: 'string', pattern: '^(?!x)', format: 'ulid' },
            day: { type: 'string', format: 'date', pattern: '^2' },
            tags: { type: 'array', minItems: 2, items: { type: 'object', properties: {} } },
            pair: { type: 'array', prefixItems: [{ type: 'string' }], items: false },
            how: { oneOf: [{ type: 'string' }, { type: 'null' }] },
            level: { enum: [{ x: 1 }] },
          },
        },
      },
      () => '',
    );
    expect(toApiTool(definition).input_schema).toEqual({
      type: 'object',
      properties: {
        n: { type: 'integer', description: 'How many (minimum: 1, maximum: 9)' },
        code: { type: 'string', description: 'pattern: "^(?!x)", format: "ulid"' },
        day: { type: 'string', format: 'date', pattern: '^2' },
        tags: {
          type: 'array',
          description: 'minItems: 2',
          minItems: 1,
          items: { type: 'object', properties: {}, additionalProperties: false },
        },
        pair: {
          type: 'array',
          items: { type: 'string' },
          description: 'prefixItems: [{"type":"string"}], items: false',
        },
        how: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        level: {
          type: 'object',
          properties: { x: { enum: [1] } },
          required: ['x'],
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    });
    expect(definition.inputSchema).toHaveProperty('properties.n.minimum', 1);
  });

  const Tree: z.ZodType = z.object({ name: z.string(), children: z.array(z.lazy(() => Tree)) });
  test.each([
    ['an open object', z.object({ prices: z.record(z.string(), z.number()) })],
    ['an object of which nothing is known', z.object({ any: z.looseObject({ a: z.string() }) })],
    ['a value within itself', z.object({ tree: Tree })],
  ])(
    'leaves strict out where it would forbid %s or cost the request, and the author learns of it',
    async (_, input) => {
      const tool = defineTool({ name: 'a', description: 'A.', strict: true, input }, () => '');
      const loose = defineTool({ name: 'a', description: 'A.', input }, () => '');
      expect(toApiTool(tool.definition)).toEqual(toApiTool(loose.definition));
      expect((await checkTool(tool)).map((reason) => reason.code)).toEqual(['strict_impossible']);
      expect(await checkTool(loose)).toEqual([]);
    },
  );

  test('keeps what references point to, also within what was lowered', () => {
    const price = { type: 'object', properties: { amount: { type: 'number' } } };
    const schema: Json = {
      type: 'object',
      anyOf: [
        { properties: { net: price, tax: { $ref: '#/anyOf/0/properties/net' } }, required: ['net'] },
        { properties: { gross: { $ref: '#/anyOf/0/properties/net/properties/amount' } }, required: ['gross'] },
      ],
    };
    const lowered = fromSchema(schema).input_schema ?? null;
    expect(inspectSchema(lowered)).toBeNull();
    expect(lowered).toMatchObject({ properties: { net: price } });
    expect(lowered).not.toHaveProperty('anyOf');
  });

  test('tells of arguments whose names the API refuses in words, and leaves the rest as it is', async () => {
    const properties = {
      id: { type: 'string' },
      $filter: { type: 'string', description: 'An OData filter' },
      'sort[by]': { $ref: '#/properties/$filter' },
      other: { $ref: '#/properties/$filter' },
    };
    const schema: Json = { type: 'object', properties, required: ['id', '$filter'], additionalProperties: false };
    const entry = fromSchema(schema);
    expect(entry.input_schema).toMatchObject({ properties: { id: { type: 'string' } }, required: ['id'] });
    expect(entry.input_schema).not.toHaveProperty('additionalProperties', false);
    expect(inspectSchema(entry.input_schema ?? null)).toBeNull();
    expect(entry.description).toContain('"$filter":{"type":"string","description":"An OData filter"}');
    expect(entry.description).toContain('required: ["$filter"]');
    const strict = defineTool({ name: 'a', description: 'A.', strict: true, input: { ...schema } }, () => '');
    expect(toApiTool(strict.definition)).not.toHaveProperty('strict');
  });

  test('lowers allOf with all requirements, and a reference at the top', () => {
    const schema: Json = {
      $ref: '#/$defs/base',
      allOf: [{ required: ['b'], properties: { b: { type: 'number' } } }],
      $defs: {
        base: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
      },
    };
    expect(fromSchema(schema).input_schema).toMatchObject({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
      required: ['a', 'b'],
    });
    expect(fromSchema(schema).input_schema).not.toHaveProperty('additionalProperties');
    expect(fromSchema(schema).input_schema).not.toHaveProperty('allOf');
    expect(fromSchema(schema).input_schema).not.toHaveProperty('$ref');
  });

  test('leaves combinators below the top alone', () => {
    const properties = { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } };
    expect(fromSchema({ type: 'object', properties }).input_schema).toEqual({ type: 'object', properties });
  });

  test('writes older forms in those of 2020-12', () => {
    const properties = {
      pair: { type: 'array', items: [{ type: 'string' }], additionalItems: false },
      n: { minimum: 0, exclusiveMinimum: true },
    };
    expect(fromSchema({ type: 'object', properties }).input_schema).toMatchObject({
      properties: { pair: { prefixItems: [{ type: 'string' }], items: false }, n: { exclusiveMinimum: 0 } },
    });
  });

  test('shows the model no text that a person could not see, and changes no value', () => {
    const schema: Json = {
      type: 'object',
      properties: {
        a: { type: 'string', description: 'x\u202ey\u200b', enum: ['a\u200b'] },
        description: { title: 'z\u0007' },
      },
    };
    expect(fromSchema(schema).input_schema).toEqual({
      type: 'object',
      properties: { a: { type: 'string', description: 'xy', enum: ['a\u200b'] }, description: { title: 'z' } },
    });
  });
});
