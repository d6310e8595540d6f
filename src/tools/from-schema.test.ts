import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { defineTool, type FromSchema, type InputOf, structured, text } from './index.ts';

test('a schema written as const gives its static type', () => {
  const schema = {
    type: 'object',
    properties: {
      id: { type: 'string' },
      count: { type: 'integer' },
      how: { enum: ['a', 'b'] },
      kind: { const: 'x' },
      maybe: { type: ['string', 'null'] },
      list: { type: 'array', items: { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'] } },
      pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
      map: { type: 'object', additionalProperties: { type: 'number' } },
      either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      free: {},
    },
    required: ['id', 'list'],
  } as const;
  expectTypeOf<FromSchema<typeof schema>>().toEqualTypeOf<{
    id: string;
    list: { on: boolean }[];
    count?: number;
    how?: 'a' | 'b';
    kind?: 'x';
    maybe?: string | null;
    pair?: [string, number];
    map?: { [key: string]: number };
    either?: string | number;
    free?: unknown;
  }>();
  expectTypeOf<FromSchema<{ readonly type: 'object' }>>().toEqualTypeOf<{ [key: string]: unknown }>();
  expect(schema.required).toContain('id');
});

test('a handler is typed by the schemas on both sides', () => {
  const input = z.object({ n: z.string().transform(Number) });
  expectTypeOf<InputOf<typeof input>>().toEqualTypeOf<{ n: number }>();
  const options = { name: 'double', description: 'Doubles.', input, output: z.object({ twice: z.number() }) };
  const tool = defineTool(options, ({ n }) => ({ twice: n * 2 }));
  defineTool(options, ({ n }) => structured({ twice: n * 2 }));
  defineTool(options, () => text('none'));
  // @ts-expect-error the output schema asks for a number
  defineTool(options, ({ n }) => ({ twice: String(n) }));
  // @ts-expect-error an example has to fit what the model writes
  defineTool({ ...options, examples: [{ n: 1 }] }, () => ({ twice: 1 }));
  expect(tool.definition.outputSchema).toMatchObject({ type: 'object', required: ['twice'] });
});
