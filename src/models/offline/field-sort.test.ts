import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../contracts/index.ts';
import { splitWords, stem } from '../../search/index.ts';
import { convert, exampleOf, shapeOf, sortOf } from './field-sort.ts';

const terms = (name: string, schema: JsonObject = { type: 'string' }, description = '') => ({
  words: splitWords(name).map(stem),
  schema,
  description,
});

describe('sortOf', () => {
  test.each([
    ['order_id', 'id'],
    ['entityNames', 'name'],
    ['file_path', 'path'],
    ['website_url', 'url'],
    ['query', 'query'],
    ['body', 'prose'],
    ['start_date', 'date'],
    ['city', 'text'],
  ])('%s is of sort %s', (name, sort) => {
    expect(sortOf(terms(name))).toBe(sort);
  });

  test('believes the schema before the name', () => {
    expect(sortOf(terms('order_id', { type: 'integer' }))).toBe('number');
    expect(sortOf(terms('path', { enum: ['a'] }))).toBe('choice');
    expect(sortOf(terms('contact', { type: 'string', format: 'email' }))).toBe('email');
    expect(sortOf(terms('parcel', { type: 'string' }, 'e.g. P-77'))).toBe('id');
  });
});

describe('exampleOf', () => {
  test.each([
    ['The order id, e.g. O-104', 'O-104'],
    ['Ticket id such as "T-2291".', 'T-2291'],
    ['Zone, for example Europe/Berlin', 'Europe/Berlin'],
    ['No example here', undefined],
  ])('%s', (description, expected) => {
    expect(exampleOf(terms('x', { type: 'string' }, description))).toBe(expected);
  });

  test('prefers the schema’s own', () => {
    expect(exampleOf(terms('x', { examples: ['A-1'] }, 'e.g. B-2'))).toBe('A-1');
    expect(shapeOf('A-1')).toBe(shapeOf('a-2345'));
  });
});

describe('convert', () => {
  test.each([
    ['3', { type: 'integer' }, 3],
    ['3.5', { type: 'integer' }, undefined],
    ['0', { type: 'number', minimum: 1 }, undefined],
    ['1,250', { type: 'number' }, 1250],
    ['abc', { type: 'number' }, undefined],
    ['TRUE', { type: 'boolean' }, true],
    ['maybe', { type: 'boolean' }, undefined],
    ['Done', { enum: ['todo', 'done'] }, 'done'],
    ['x', { type: 'string', minLength: 2 }, undefined],
    ['abc', { type: 'string', pattern: '^[A-Z]-\\d+$' }, undefined],
    ['O-1', { type: 'string', pattern: '^[A-Z]-\\d+$' }, 'O-1'],
    ['nope', { type: 'string', format: 'email' }, undefined],
    ['x', { type: 'array' }, undefined],
  ] as const)('%j as %j is %j', (text, schema, expected) => {
    expect(convert(text, schema as unknown as JsonObject)).toBe(expected);
  });

  test('doesn’t run a pattern that could take forever, nor trip over one that isn’t one', () => {
    expect(convert(`${'a'.repeat(60)}!`, { type: 'string', pattern: '^(a+)+$' })).toBe(`${'a'.repeat(60)}!`);
    expect(convert('x', { type: 'string', pattern: '[' })).toBe('x');
  });
});
