import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { canonicalJson, sha256 } from './canonical.ts';
import { rawFrom, rawJson } from './raw-json.ts';

test('canonical JSON sorts members by UTF-16 units and uses no white space', () => {
  expect(canonicalJson({ b: [1, 'x'], a: { d: null, c: true } })).toBe('{"a":{"c":true,"d":null},"b":[1,"x"]}');
  expect(
    canonicalJson({ '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 }),
  ).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}');
});

test('the order of members does not matter, and nothing else is lost', () => {
  const reverse = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(reverse);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([k, v]) => [k, reverse(v)]),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.parse(JSON.stringify(value)) as Json;
      expect(canonicalJson(reverse(json))).toBe(canonicalJson(json));
      expect(JSON.parse(canonicalJson(json))).toEqual(json);
    }),
  );
});

test('no depth that a stack would not take keeps a value from being written, and a circle is refused', () => {
  const text = `${'{"a":['.repeat(20_000)}1${']}'.repeat(20_000)}`;
  expect(canonicalJson(JSON.parse(text) as Json)).toBe(text);
  const round: Json[] = [];
  round.push(round);
  expect(() => canonicalJson(round)).toThrow(RangeError);
});

test('sha256 gives the published digest of "abc"', () => {
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('raw JSON keeps its text, parses once, and fails only when it is parsed', () => {
  const raw = rawJson('{ "a": 1.0 }');
  expect(raw.text).toBe('{ "a": 1.0 }');
  expect(raw.parse()).toBe(raw.parse());
  expect(() => rawJson('{').parse()).toThrow(SyntaxError);
  const value = { a: 1 };
  const copy = rawFrom(value);
  value.a = 2;
  expect(copy.parse()).toEqual({ a: 1 });
});
