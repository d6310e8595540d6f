import { expect, test } from 'vitest';
import { rawFrom, rawParsed } from './index.ts';

test('a value that was parsed is given as it is, and as text to whoever reads that', () => {
  const value = JSON.parse('{"a":[1,{"__proto__":"own"}]}');
  const raw = rawParsed(value);
  expect(raw.parse()).toBe(value);
  expect(raw.text).toBe('{"a":[1,{"__proto__":"own"}]}');
});

test('a value that is written is what it was then', () => {
  const value = { a: 1 };
  const raw = rawFrom(value);
  value.a = 2;
  expect(raw.parse()).toEqual({ a: 1 });
});
