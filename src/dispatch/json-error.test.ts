import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonErrorAt } from './json-error.ts';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each([
  ['{"order": O-1}', 10, 'a value'],
  ['{"order": "O-1"', 15, '"," or "}"'],
  ['{"order": "O-1', 14, 'the string\'s closing "'],
  ["{'order': 1}", 1, 'a name in double quotes or "}"'],
  ['{"a":1,}', 7, 'a name in double quotes'],
  ['{"a" 1}', 5, '":"'],
  ['[1,]', 3, 'a value'],
  ['[1 2]', 3, '"," or "]"'],
  ['{"a":"\\q"}', 6, 'a valid escape after \\'],
  ['{"a":"\n"}', 6, 'an escape for this character'],
  ['{} {}', 3, 'nothing more after the value'],
  ['', 0, 'a value'],
  ['01', 1, 'nothing more after the value'],
])('the first error of %j is at %i', (text, position, expected) => {
  expect(jsonErrorAt(text)).toEqual({ position, expected });
});

test('an error is found exactly in those texts that the parser refuses', () => {
  const damaged = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', '"', '\\', 'e', '-', '\u2028', '\u0001', '\u007f', '0'))
    .map(([text, at, put]) => text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1));
  fc.assert(
    fc.property(fc.oneof(fc.json(), damaged), (text) => (jsonErrorAt(text) === undefined) === isJson(text)),
    {
      numRuns: 2_000,
    },
  );
});

test('deep nesting is no trouble', () => {
  expect(jsonErrorAt('['.repeat(200_000))).toEqual({ position: 200_000, expected: 'a value or "]"' });
});
