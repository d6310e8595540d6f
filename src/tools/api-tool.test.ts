import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json, JsonObject, ServerRef } from '../contracts/index.ts';
import { compileSchema, defineTool, definitionFromMcp, rawFrom, toApiTool } from './index.ts';

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
            tags: { type: 'array', minItems: 2, items: { type: 'object', properties: {}, additionalProperties: true } },
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
          items: { type: 'object', properties: {}, additionalProperties: false },
        },
      },
      additionalProperties: false,
    });
    expect(definition.inputSchema).toHaveProperty('properties.n.minimum', 1);
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
