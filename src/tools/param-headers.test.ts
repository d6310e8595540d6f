import { describe, expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { headersFor, headerValue, paramHeaders } from './param-headers.ts';

const object = (properties: Json) => ({ type: 'object', properties });
const marked = (type: Json, name: Json = 'Region') => ({ type, 'x-mcp-header': name });

describe('annotations', () => {
  test('are found on properties at any depth, and a property of that name is none', () => {
    const schema = object({
      a: marked('string', 'A'),
      b: object({ c: marked('integer', 'C') }),
      'x-mcp-header': { type: 'string' },
      d: { type: 'object', default: { 'x-mcp-header': 'not a schema' } },
    });
    expect(paramHeaders(schema)).toEqual([
      { header: 'mcp-param-a', path: ['a'] },
      { header: 'mcp-param-c', path: ['b', 'c'] },
    ]);
    expect(paramHeaders(undefined)).toEqual([]);
  });

  test.each<[string, Json]>([
    ['an empty name', object({ a: marked('string', '') })],
    ['a name with a space', object({ a: marked('string', 'my region') })],
    ['a name with a line break', object({ a: marked('string', 'A\r\nB: c') })],
    ['a name that is no string', object({ a: marked('string', 7) })],
    ['the type number', object({ a: marked('number') })],
    ['the type object', object({ a: marked('object') })],
    ['no type', object({ a: { 'x-mcp-header': 'A' } })],
    ['one name twice, in another case', object({ a: marked('string', 'A'), b: marked('string', 'a') })],
    ['the root', { ...object({}), 'x-mcp-header': 'A' }],
    ['items', object({ a: { type: 'array', items: marked('string') } })],
    ['anyOf', object({ a: { anyOf: [marked('string')] } })],
    ['properties below allOf', { allOf: [object({ a: marked('string') })] }],
    ['if', { if: object({ a: marked('string') }) }],
    ['$defs', { $defs: { region: marked('string') } }],
    ['additionalProperties', { additionalProperties: marked('string') }],
    ['patternProperties', { patternProperties: { '^a': marked('string') } }],
  ])('with %s make the definition invalid', (_, schema) => {
    expect(paramHeaders(schema)).toMatchObject({ invalid: expect.stringContaining('x-mcp-header') });
  });
});

describe('headers of a call', () => {
  const params = [
    { header: 'mcp-param-a', path: ['a'] },
    { header: 'mcp-param-c', path: ['b', 'c'] },
  ];
  test.each<[Json, Record<string, string>]>([
    [
      { a: 'us-west1', b: { c: 42 } },
      { 'mcp-param-a': 'us-west1', 'mcp-param-c': '42' },
    ],
    [
      { a: false, b: { c: -7 } },
      { 'mcp-param-a': 'false', 'mcp-param-c': '-7' },
    ],
    [{ a: null, b: null }, {}],
    [{ b: { c: 1e21 } }, { 'mcp-param-c': '1000000000000000000000' }],
    [{ a: ['x'], b: 'c' }, {}],
    [null, {}],
  ])('of %j', (args, headers) => {
    expect(headersFor(params, args)).toEqual(headers);
    expect(headersFor([{ header: 'x', path: ['toString'] }], args)).toEqual({});
  });

  // The examples of the specification.
  test.each([
    ['us-west1', 'us-west1'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
    ['in between', 'in between'],
    ['', ''],
  ])('carry %j as %j', (value, carried) => {
    expect(headerValue(value)).toBe(carried);
  });
});
