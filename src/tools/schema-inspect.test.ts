import { describe, expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { inspectAnySchema, inspectSchema, SCHEMA_CAPS } from './index.ts';

function nested(levels: number): Json {
  let schema: Json = { type: 'string' };
  for (let i = 0; i < levels; i++) schema = { type: 'object', properties: { next: schema } };
  return schema;
}

describe('inspectSchema', () => {
  test('takes what tools use', () => {
    for (const schema of [
      {},
      { type: 'object' },
      { type: ['object', 'null'], properties: { a: true } },
      { oneOf: [{ type: 'object' }] },
      { type: 'object', properties: { pattern: { type: 'string' }, $ref: { type: 'string' }, enum: {} } },
      { type: 'object', properties: { kids: { items: { $ref: '#' } } } },
      { type: 'object', description: 'x', 'x-unknown': { $ref: 'nowhere' }, default: { $ref: 'nowhere' } },
      nested(25),
    ]) {
      expect(inspectSchema(schema)).toBeNull();
    }
  });

  test.each<[string, string, Json]>([
    ['no object', 'schema_not_object', true],
    ['null', 'schema_not_object', null],
    ['a list', 'schema_not_object', []],
    ['a schema of something else', 'schema_not_object', { type: 'string' }],
    ['a list of types without object', 'schema_not_object', { type: ['string', 'null'] }],
    ['an unknown type', 'schema_invalid', { properties: { a: { type: 'any' } } }],
    ['properties in a list', 'schema_invalid', { properties: ['a'] }],
    ['a property that is no schema', 'schema_invalid', { properties: { a: 'string' } }],
    ['a required that is text', 'schema_invalid', { required: 'a' }],
    ['an empty enum', 'schema_invalid', { properties: { a: { enum: [] } } }],
    ['a bound that is text', 'schema_invalid', { properties: { a: { minimum: '3' } } }],
    ['a length below nothing', 'schema_invalid', { properties: { a: { maxLength: -1 } } }],
    ['a reference that leads nowhere', 'schema_ref_unresolved', { properties: { a: { $ref: '#/$defs/a' } } }],
    ['a reference to elsewhere', 'schema_ref_unresolved', { properties: { a: { $ref: 'https://x.example/y' } } }],
    ['a reference to an inherited member', 'schema_ref_unresolved', { properties: { a: { $ref: '#/constructor' } } }],
    ['a schema that is only itself', 'schema_recursive', { $ref: '#' }],
    ['a schema that contains itself at once', 'schema_recursive', { allOf: [{ $ref: '#' }] }],
    [
      'a circle of references',
      'schema_recursive',
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    ],
    ['too deep a schema', 'schema_too_deep', nested(100_000)],
    [
      'too long an enum',
      'schema_enum_too_long',
      { properties: { a: { enum: Array.from({ length: SCHEMA_CAPS.enum + 1 }, (_, i) => i) } } },
    ],
    ['too large a schema', 'schema_too_large', { description: 'x'.repeat(SCHEMA_CAPS.bytes) }],
    [
      'too many subschemas',
      'schema_too_large',
      { properties: Object.fromEntries(Array.from({ length: SCHEMA_CAPS.subschemas }, (_, i) => [`p${i}`, {}])) },
    ],
  ])('refuses %s', (_, code, schema) => {
    expect(inspectSchema(schema)).toMatchObject({ room: 'tools', code });
  });

  test('refuses references that double at each step', () => {
    const $defs: Record<string, Json> = { d0: { type: 'object' } };
    for (let i = 1; i <= 40; i++)
      $defs[`d${i}`] = { allOf: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] };
    expect(inspectSchema({ $ref: '#/$defs/d40', $defs })).toMatchObject({ code: 'schema_recursive' });
  });

  test('names the place', () => {
    const schema: Json = { properties: { a: { items: { anyOf: [{}, { type: 'int' }] } } } };
    expect(inspectSchema(schema)?.text).toBe(
      'Its schema is not valid at "properties.a.items.anyOf.1": "type" is "int".',
    );
  });
});

test('an output schema may describe any value', () => {
  expect(inspectAnySchema({ type: 'array', items: { type: 'string' } })).toBeNull();
  expect(inspectAnySchema(true)).toBeNull();
  expect(inspectAnySchema({ type: 'list' })).toMatchObject({ code: 'schema_invalid' });
});
