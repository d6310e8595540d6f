import { expect, test } from 'vitest';
import { missingReasons } from './missing-check.ts';

const object = (properties: Record<string, object>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
});
const placesOf = (schema: object) => missingReasons(schema as never).map(({ text }) => /^"([^"]*)"/.exec(text)?.[1]);

test('a member that has to be there and can not be null leaves no way to say that it is missing', () => {
  const schema = object({
    number: { type: 'string' },
    paid: { type: 'boolean' },
    due: { type: ['string', 'null'] },
    vat: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    lines: { type: 'array', items: object({ amount: { type: 'number' } }) },
    seller: object({ name: { type: 'string' } }),
    currency: { const: 'EUR' },
  });
  expect(placesOf(schema)).toEqual(['/number', '/paid', '/lines/*/amount', '/seller/name']);
  expect(missingReasons(schema as never)[0]).toMatchObject({ room: 'tools', code: 'schema_cannot_say_missing' });
});

test('one that may be left out does', () => {
  expect(placesOf(object({ number: { type: 'string' } }, []))).toEqual([]);
});

test('an enum needs a way out, and an "other" a place for what it is', () => {
  expect(placesOf(object({ kind: { enum: ['lease', 'sale'] } }))).toEqual(['/kind']);
  expect(placesOf(object({ kind: { enum: ['lease', 'sale', null] } }))).toEqual([]);
  expect(placesOf(object({ kind: { enum: ['lease', 'unclear'] } }))).toEqual([]);
  expect(placesOf(object({ kind: { enum: ['lease', 'other'] } }))).toEqual(['/kind']);
  const detailed = object({ kind: { enum: ['lease', 'other'] }, kind_details: { type: ['string', 'null'] } });
  expect(placesOf(detailed)).toEqual([]);
});

test('references are followed, and a schema that contains itself ends', () => {
  const schema = {
    ...object({ top: { $ref: '#/$defs/node' } }),
    $defs: { node: object({ name: { type: 'string' }, below: { type: 'array', items: { $ref: '#/$defs/node' } } }) },
  };
  expect(placesOf(schema).slice(0, 2)).toEqual(['/top/name', '/top/below/*/name']);
});
