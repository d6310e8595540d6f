import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inOneLine, isDeeperThan } from './json-text.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('the depth of a text is that of its value, whatever its strings hold', () => {
  const hostile = fc.constantFrom('[[[', '}}}', '\\', '"', '\\"[', '\\\\', 'ś{ŝ}', '\u2028', '\u0000');
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 12, withCrossShrink: true },
      hostile,
      fc.integer(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(hostile, tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  fc.assert(
    fc.property(json, fc.nat({ max: 12 }), (value, limit) => {
      expect(isDeeperThan(JSON.stringify(value), limit)).toBe(depthOf(value) > limit);
      expect(isDeeperThan(JSON.stringify(value, null, 1), limit)).toBe(depthOf(value) > limit);
    }),
    { numRuns: 1_000 },
  );
});

test('a text of a million levels is refused, and one that is broken breaks nothing', () => {
  expect(isDeeperThan('['.repeat(1_000_000), 512)).toBe(true);
  expect(isDeeperThan(`${'{"a":'.repeat(1_000_000)}1`, 512)).toBe(true);
  expect(isDeeperThan(']'.repeat(5_000), 512)).toBe(false);
  expect(isDeeperThan(`"${'['.repeat(5_000)}`, 512)).toBe(false);
  expect(isDeeperThan(`"${'\\'.repeat(100_000)}`, 512)).toBe(false);
});

test('one line says the same as the lines it is made of', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), fc.constantFrom('\n', '\r\n', ' \r '), (json, end) => {
      const lines = JSON.stringify(JSON.parse(json), null, 2).replaceAll('\n', end);
      const line = inOneLine(lines);
      expect(line).not.toMatch(/[\r\n]/);
      expect(JSON.parse(line)).toEqual(JSON.parse(json));
    }),
  );
  expect(inOneLine('{"a":"b\\nc"}')).toBe('{"a":"b\\nc"}');
});
