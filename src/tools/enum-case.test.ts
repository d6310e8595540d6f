import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../contracts/index.ts';
import { asProposed, enumCase } from './enum-case.ts';
import { checkTool, defineTool } from './index.ts';

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });
const UNIT = { type: 'string', enum: ['celsius', 'Fahrenheit'] };

describe('enumCase', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject | null]>([
    ['a value of an enum', object({ unit: UNIT }), { unit: 'CELSIUS' }, { unit: 'celsius' }],
    ['a const', object({ kind: { const: 'Refund' } }), { kind: 'refund' }, { kind: 'Refund' }],
    [
      'one in a list',
      object({ units: { type: 'array', items: UNIT } }),
      { units: ['celsius', 'FAHRENHEIT'] },
      { units: ['celsius', 'Fahrenheit'] },
    ],
    [
      'one in a tuple',
      object({ pair: { prefixItems: [{ type: 'string' }, UNIT] } }),
      { pair: ['CELSIUS', 'Celsius'] },
      { pair: ['CELSIUS', 'celsius'] },
    ],
    [
      'one of a map',
      object({ by: { additionalProperties: UNIT } }),
      { by: { x: 'Celsius' } },
      { by: { x: 'celsius' } },
    ],
    [
      'one behind a reference',
      object({ unit: { $ref: '#/$defs/u' } }, { $defs: { u: UNIT } }),
      { unit: 'Celsius' },
      { unit: 'celsius' },
    ],
    [
      'one of an alternative',
      object({ unit: { anyOf: [UNIT, { type: 'null' }] } }),
      { unit: 'Celsius' },
      { unit: 'celsius' },
    ],
    ['nothing where two are meant', object({ a: { enum: ['A', 'a'] } }), { a: 'á' }, null],
    ['nothing between two that differ in case', object({ a: { enum: ['ab', 'AB'] } }), { a: 'Ab' }, null],
    ['nothing that is one of the values', object({ a: { enum: ['ab', 'AB'] } }), { a: 'AB' }, null],
    ['no other string', object({ a: { type: 'string' }, unit: UNIT }), { a: 'CELSIUS', unit: 'kelvin' }, null],
    ['no name of a property', object({ unit: UNIT }), { Unit: 'CELSIUS' }, null],
    ['nothing inherited', object({}), JSON.parse('{"constructor": "X", "__proto__": "Y"}') as JsonObject, null],
  ])('puts right %s', (_, schema, args, expected) => {
    expect(enumCase(schema, args)?.args ?? null).toEqual(expected);
  });

  test('looks at schemas within themselves as deep as the arguments go', () => {
    const node = object({ kind: { enum: ['leaf', 'branch'] }, next: { $ref: '#/$defs/node' } });
    const schema: Json = { $ref: '#/$defs/node', $defs: { node, self: { $ref: '#/$defs/self' } } };
    const made = enumCase(schema, { kind: 'Branch', next: { kind: 'LEAF' } });
    expect(made?.args).toEqual({ kind: 'branch', next: { kind: 'leaf' } });
    expect(made?.corrections.map(({ path }) => path)).toEqual([['kind'], ['next', 'kind']]);
  });

  test('gives up on what would take too long, and changes nothing then', () => {
    const schema = object({ all: { items: { enum: Array.from({ length: 5_000 }, (_, n) => `v${n}`) } } });
    expect(enumCase(schema, { all: Array.from({ length: 1_000 }, () => 'V1') })).toBeNull();
  });

  test('looks for what a reference means once, however many values it speaks of', () => {
    const ids = Array.from({ length: 300 }, (_, n) => `https://example.com/part-${n}`);
    const parts = new Map(ids.map(($id, n): [string, Json] => [`d${n}`, { $id, enum: [`V${n}`] }]));
    let looks = 0;
    // Each search for an identifier goes through the definitions.
    const $defs = new Proxy(Object.fromEntries(parts), {
      ownKeys(target) {
        looks += 1;
        return Reflect.ownKeys(target);
      },
    });
    const items = { anyOf: ids.slice(0, 100).map(($ref) => ({ $ref })) };
    const made = enumCase(object({ all: { items } }, { $defs }), { all: Array.from({ length: 50 }, () => 'v7') });
    expect(made?.corrections).toHaveLength(50);
    expect(looks).toBeLessThanOrEqual(100);
  });

  test('what was put right can be put back, and what was changed since stays', () => {
    const schema = object({ units: { items: UNIT }, to: { type: 'string' } });
    const made = enumCase(schema, { units: ['Celsius', 'x'], to: 'CELSIUS' });
    expect(asProposed(made?.args ?? {}, made?.corrections ?? [])).toEqual({ units: ['Celsius', 'x'], to: 'CELSIUS' });
    const edited = { units: ['Fahrenheit'], to: 'celsius' };
    expect(asProposed(edited, made?.corrections ?? [])).toEqual(edited);
  });

  test('only letter case is ever changed', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ maxLength: 4 }), { minLength: 1 }),
        fc.string({ maxLength: 4 }),
        (all, a) => {
          const made = enumCase(object({ a: { enum: all } }), { a });
          if (made === null) return;
          expect(all).toContain(made.args.a);
          expect(String(made.args.a).toLowerCase()).toBe(a.toLowerCase());
          expect(all).not.toContain(a);
        },
      ),
    );
  });
});

test('checkTool warns of values that differ in letter case alone', async () => {
  const items = { type: 'object', properties: { 'a/b': { enum: ['Open', 'open', 'closed'] } } };
  const tool = defineTool(
    { name: 'a', description: 'A.', input: object({ list: { type: 'array', items } }) },
    () => '',
  );
  expect(await checkTool(tool)).toEqual([
    {
      room: 'tools',
      code: 'enum_differs_in_case',
      text: expect.stringContaining('/properties/a~1b" can be "Open", "open"'),
    },
  ]);
});
