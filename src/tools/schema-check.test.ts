import { describe, expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { compileSchema, inspectSchema, SCHEMA_CAPS } from './index.ts';

async function issues(schema: Json, value: Json, origin: 'own' | 'outside' = 'outside') {
  return (await compileSchema(schema, { origin })).check(value);
}

const order: Json = {
  type: 'object',
  properties: {
    order_id: { type: 'string', minLength: 3 },
    amount: { type: 'integer', minimum: 1 },
    currency: { enum: ['EUR', 'USD'] },
    lines: { type: 'array', maxItems: 2, items: { type: 'object', required: ['sku'] } },
  },
  required: ['order_id'],
  additionalProperties: false,
};

describe('a check', () => {
  test('finds nothing wrong with a value that fits', async () => {
    expect(await issues(order, { order_id: 'O-1', amount: 3, currency: 'EUR', lines: [{ sku: 1 }] })).toEqual([]);
  });

  test('names each wrong field by JSON Pointer, with what was expected and what came', async () => {
    expect(await issues(order, { amount: '12', currency: 'GBP', lines: [{}, {}, {}], colour: 1 })).toEqual([
      { path: '/order_id', message: 'required, missing' },
      { path: '/colour', message: 'not a known property; known: order_id, amount, currency, lines' },
      { path: '/amount', message: 'expected integer, got string "12"' },
      { path: '/currency', message: 'expected one of "EUR", "USD", got string "GBP"' },
      { path: '/lines', message: 'expected at most 2 items, got 3' },
      { path: '/lines/0/sku', message: 'required, missing' },
      { path: '/lines/1/sku', message: 'required, missing' },
      { path: '/lines/2/sku', message: 'required, missing' },
    ]);
  });

  test('says of a value that is no object what was expected', async () => {
    expect(await issues(order, [])).toEqual([{ path: '', message: 'expected object, got array' }]);
    expect(await issues(order, null)).toEqual([{ path: '', message: 'expected object, got null' }]);
  });

  test('shows at most 20 of the allowed values and 25 of the faults', async () => {
    const choice: Json = { type: 'object', properties: { c: { enum: Array.from({ length: 50 }, (_, i) => `v${i}`) } } };
    expect((await issues(choice, { c: 'x' }))[0]?.message).toContain('"v19" and 30 more');
    const list: Json = { type: 'object', properties: { l: { type: 'array', items: { type: 'string' } } } };
    expect(await issues(list, { l: Array.from({ length: 100 }, () => 1) })).toHaveLength(25);
  });

  test('tells of a failed choice the branch that was meant, or else the choice', async () => {
    const schema: Json = {
      type: 'object',
      properties: {
        to: { anyOf: [{ type: 'string', minLength: 5 }, { type: 'null' }] },
        at: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        how: {
          oneOf: [
            {
              type: 'object',
              properties: { kind: { const: 'mail' }, address: { type: 'string' } },
              required: ['kind', 'address'],
            },
            {
              type: 'object',
              properties: { kind: { const: 'call' }, number: { type: 'string' } },
              required: ['kind', 'number'],
            },
          ],
        },
      },
    };
    expect(await issues(schema, { to: 'abc', at: 3, how: { kind: 'call' } })).toEqual([
      { path: '/to', message: 'expected at least 5 characters, got 3' },
      { path: '/at', message: 'fits none of the allowed forms (string, null), got integer 3' },
      { path: '/how/number', message: 'required, missing' },
    ]);
  });

  test('tells of forms that a property tells apart what that property may be', async () => {
    const form = (kind: string, field: string): Json => ({
      type: 'object',
      properties: { kind: { const: kind }, [field]: { type: 'string' } },
      required: ['kind', field],
      additionalProperties: false,
    });
    const schema: Json = { oneOf: [form('mail', 'address'), form('call', 'number')] };
    expect(await issues(schema, { kind: 'fax', address: 'x' })).toEqual([
      { path: '/kind', message: 'expected one of "mail", "call", got string "fax"' },
    ]);
    expect(await issues(schema, { address: 'x' })).toEqual([{ path: '/kind', message: 'required, missing' }]);
  });

  test('tells of forms that nothing tells apart what each of them lacks', async () => {
    const schema: Json = {
      type: 'object',
      properties: { email: { type: 'string' }, phone: { type: 'string' } },
      anyOf: [{ required: ['email'] }, { required: ['phone'] }],
    };
    expect(await issues(schema, {})).toEqual([
      {
        path: '',
        message: 'fits none of the allowed forms: either /email: required, missing; or /phone: required, missing',
      },
    ]);
  });

  test("uses none of the validator's own words", async () => {
    const schema: Json = {
      type: 'object',
      properties: { a: { not: {} }, b: false, c: { multipleOf: 5 }, d: { pattern: '^x' }, e: { uniqueItems: true } },
      minProperties: 9,
      propertyNames: { maxLength: 1 },
      dependentRequired: { a: ['z'] },
    };
    const found = await issues(schema, { a: 1, b: 1, c: 3, d: 'y', e: [{ k: 1 }, { k: 1 }], long: 1 });
    expect(found.length).toBeGreaterThan(7);
    for (const { message } of found) expect(message).not.toMatch(/must |NOT |schema|valid/);
    expect(found).toContainEqual({ path: '/z', message: 'required when "a" is given, missing' });
    expect(found).toContainEqual({ path: '/e', message: 'expected no item twice' });
  });

  test('knows a property by its own name only, even `constructor`', async () => {
    const schema: Json = {
      type: 'object',
      properties: { constructor: { type: 'string' } },
      required: ['constructor'],
      additionalProperties: false,
    };
    expect(await issues(schema, {})).toEqual([{ path: '/constructor', message: 'required, missing' }]);
    expect(await issues(schema, { constructor: 'x' })).toEqual([]);
    expect(await issues(schema, { constructor: 'x', toString: 1 })).toMatchObject([{ path: '/toString' }]);
  });

  test('names the format rather than its pattern where a schema gives both', async () => {
    const schema: Json = {
      type: 'object',
      properties: { day: { type: 'string', format: 'date', pattern: '^\\d{4}-' } },
    };
    expect(await issues(schema, { day: 'x' })).toEqual([
      { path: '/day', message: 'expected text of the format "date", got string "x"' },
    ]);
  });

  test('treats format as an annotation', async () => {
    expect(await issues({ type: 'object', properties: { m: { format: 'email' } } }, { m: 'no' })).toEqual([]);
  });
});

describe('older drafts', () => {
  test('are read as they were meant', async () => {
    const schema: Json = {
      $schema: 'http://json-schema.org/draft-04/schema#',
      id: 'http://example.com/old',
      type: 'object',
      properties: {
        pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false },
        above: { type: 'number', minimum: 3, exclusiveMinimum: true },
        one: { $ref: '#/definitions/one' },
        named: { type: 'string', required: true },
      },
      definitions: { one: { type: 'string', nullable: true } },
      dependencies: { above: ['one'] },
    };
    expect(inspectSchema(schema)).toBeNull();
    expect(await issues(schema, { pair: ['a', 1], above: 4, one: null })).toEqual([]);
    expect(await issues(schema, { pair: [1, 1, 1], above: 3 })).toEqual([
      { path: '/one', message: 'required when "above" is given, missing' },
      { path: '/pair/0', message: 'expected string, got integer 1' },
      { path: '/pair', message: 'expected at most 2 items, got 3' },
      { path: '/above', message: 'expected a number > 3, got integer 3' },
    ]);
  });

  test('of 2019 and 7 do not need their meta-schemas', async () => {
    for (const draft of ['http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2019-09/schema']) {
      expect(await issues({ $schema: draft, type: 'object' }, {})).toEqual([]);
    }
  });
});

describe('references', () => {
  test('may point to the root, to definitions, to anchors and to parts with an $id', async () => {
    const schema: Json = {
      $id: 'https://example.com/tree',
      type: 'object',
      properties: {
        kids: { type: 'array', items: { $ref: '#' } },
        a: { $ref: '#named' },
        b: { $ref: 'https://example.com/part#/$defs/inner' },
        c: { $ref: 'part' },
      },
      additionalProperties: false,
      $defs: {
        named: { $anchor: 'named', type: 'string' },
        part: {
          $id: 'part',
          type: 'object',
          properties: { x: { $ref: '#/$defs/inner' } },
          $defs: { inner: { type: 'number' } },
        },
      },
    };
    expect(inspectSchema(schema)).toBeNull();
    expect(await issues(schema, { kids: [{ kids: [{ a: 'x' }] }], b: 1, c: { x: 2 } })).toEqual([]);
    expect(await issues(schema, { kids: [{ kids: [{ a: 1 }] }], b: '', c: { x: '' } })).toMatchObject([
      { path: '/kids/0/kids/0/a' },
      { path: '/b' },
      { path: '/c/x' },
    ]);
  });

  test('within two schemas of the same $id, or parts of one, do not meet', async () => {
    const first: Json = { $id: 'same', type: 'object', properties: { a: { type: 'string' } } };
    const second: Json = { $id: 'same', type: 'object', properties: { a: { type: 'number' }, b: { $id: 'same' } } };
    expect(await issues(first, { a: 'x' })).toEqual([]);
    expect(await issues(second, { a: 'x' })).toMatchObject([{ path: '/a' }]);
  });
});

describe('a hostile schema', () => {
  test('cannot hang the process with a pattern', async () => {
    const schema: Json = {
      type: 'object',
      properties: { a: { type: 'string', pattern: '^(a+)+$' } },
      patternProperties: { '^(b+)+$': { type: 'number' } },
    };
    const a = `${'a'.repeat(5_000)}!`;
    expect(await issues(schema, { a, [`${'b'.repeat(5_000)}!`]: 'x' })).toMatchObject([{ path: '/a' }]);
  });

  test('cannot hang it with references that branch without end, whether they fit or fail', async () => {
    for (const leaf of [true, false, { type: 'string' }] as const) {
      for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
        const node = {
          type: 'object',
          properties: { c: { [keyword]: [{ $ref: '#/$defs/n' }, { $ref: '#/$defs/n' }] }, v: leaf },
        };
        const schema: Json = { type: 'object', $ref: '#/$defs/n', $defs: { n: node } };
        let value: Json = { v: 1 };
        for (let depth = 0; depth < 60; depth++) value = { c: value };
        expect(inspectSchema(schema)).toBeNull();
        expect(Array.isArray(await issues(schema, value))).toBe(true);
      }
    }
  });

  test('cannot exhaust the stack with a deep value', async () => {
    const schema: Json = { type: 'object', properties: { c: { $ref: '#' } } };
    let value: Json = {};
    for (let depth = 0; depth < 100_000; depth++) value = { c: value };
    expect(await issues(schema, value)).toMatchObject([{ path: '', message: expect.stringContaining('too deeply') }]);
  });

  test('cannot make a check quadratic with uniqueItems', async () => {
    const schema: Json = { type: 'object', properties: { l: { type: 'array', uniqueItems: true } } };
    const l = Array.from({ length: 100_000 }, (_, i): Json => ({ i }));
    expect(await issues(schema, { l })).toEqual([]);
    expect(await issues(schema, { l: [...l, { i: 0 }] })).toHaveLength(1);
  });

  test('may be as wide as the caps allow', async () => {
    const names = Array.from({ length: SCHEMA_CAPS.subschemas - 1 }, (_, i) => `p${i}`);
    const schema: Json = {
      type: 'object',
      properties: Object.fromEntries(names.map((n) => [n, { type: 'string', maxLength: 5 }])),
    };
    expect(await issues(schema, { p1: 'x', p990: 'too long' })).toMatchObject([{ path: '/p990' }]);
  });

  test('loses the patterns that have no linear form, and says so', async () => {
    const schema: Json = {
      type: 'object',
      properties: { a: { type: 'string', pattern: '^(?=x)' }, b: { type: 'string', pattern: '^(.)\\1$' } },
      patternProperties: { '^(?!_)': { type: 'number' } },
      additionalProperties: false,
    };
    const { check, notes } = await compileSchema(schema, { origin: 'outside' });
    expect(check({ a: 'y', b: 'xy', other: 1 })).toEqual([]);
    expect(check({ a: 1 })).toMatchObject([{ path: '/a' }]);
    expect(notes.map((note) => note.code)).toEqual(Array(3).fill('pattern_not_enforced'));
    expect(notes[0]?.text).toContain('^(?=x)');
  });

  test('of our own may use every pattern', async () => {
    const schema: Json = { type: 'object', properties: { a: { type: 'string', pattern: '^(?=x)' } } };
    const { check, notes } = await compileSchema(schema, { origin: 'own' });
    expect(notes).toEqual([]);
    expect(check({ a: 'y' })).toMatchObject([{ path: '/a', message: expect.stringContaining('^(?=x)') }]);
  });

  test('that is not a schema is refused with a BridleError', async () => {
    await expect(compileSchema({ type: 'text' }, { origin: 'outside' })).rejects.toMatchObject({
      name: 'BridleError',
      code: 'schema_invalid',
      message: expect.stringContaining('"type" is "text"'),
    });
  });
});

test('the same schema is compiled once', async () => {
  const schema = (): Json => ({ type: 'object', properties: { once: {} } });
  const first = await compileSchema(schema(), { origin: 'outside' });
  expect(await compileSchema(schema(), { origin: 'outside' })).toBe(first);
  expect(await compileSchema(schema(), { origin: 'own' })).not.toBe(first);
});
