import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deriveId } from './derive-id.ts';

test('equal things have equal ids, whatever the order of their members', () => {
  expect(deriveId('invoice', { order: 'O-1', month: 3 })).toBe(deriveId('invoice', { month: 3, order: 'O-1' }));
  expect(deriveId('invoice', { order: 'O-1', month: 3 })).toBe('abc57ea7-ef4c-8581-a1fc-a8db53f0be2c');
});

test('other things, and the same thing of another kind, have other ids', () => {
  const ids = [
    deriveId('invoice', 'a'),
    deriveId('receipt', 'a'),
    deriveId('invoice', 'b'),
    deriveId('invoice', ['a']),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});

test('every id is a UUID of version 8', () => {
  const uuid8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (namespace, of) => {
      expect(deriveId(namespace, of as never)).toMatch(uuid8);
    }),
  );
});
