import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { globMatches } from './glob.ts';

describe('globMatches', () => {
  test('a pattern without a star matches itself only', () => {
    expect(globMatches('get', 'get')).toBe(true);
    expect(globMatches('get', 'get_x')).toBe(false);
  });

  test('a star stands for any run of characters, the empty one included', () => {
    expect(globMatches('get_*', 'get_')).toBe(true);
    expect(globMatches('*_order', 'get_order')).toBe(true);
    expect(globMatches('a*b*c', 'a-b-b-c')).toBe(true);
    expect(globMatches('a*b*c', 'a-c-b')).toBe(false);
    expect(globMatches('ab*ba', 'aba')).toBe(false);
  });

  test('other characters that regular expressions know stand for themselves', () => {
    expect(globMatches('a.c*', 'abc')).toBe(false);
    expect(globMatches('a.[c]$*', 'a.[c]$1')).toBe(true);
  });

  test('it agrees with the regular expression of the same meaning', () => {
    const small = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });
    fc.assert(
      fc.property(small, text, (pattern, subject) => {
        const regex = new RegExp(`^${pattern.replace(/\*+/g, '.*')}$`);
        expect(globMatches(pattern, subject)).toBe(regex.test(subject));
      }),
    );
  });
});
