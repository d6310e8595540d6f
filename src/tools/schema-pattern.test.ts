import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linearEngine, TooMuchMatching, toRe2 } from './schema-pattern.ts';

const engine = await linearEngine();

function matches(pattern: string, text: string): boolean | null {
  return engine.compile(pattern)?.test(text) ?? null;
}

describe('the linear engine', () => {
  test.each([
    ['^\\s$', '\u00a0', true],
    ['^[\\s]+$', '\u3000\v', true],
    ['^\\S$', '\ufeff', false],
    ['^.$', '\u2028', false],
    ['^[^]$', '\n', true],
    ['^[]$', '', false],
    ['^\\u0041\\x42\\cA\\0$', 'AB\u0001\u0000', true],
    ['^\\ud83d\\ude00$', '😀', true],
    ['^\\u{1F600}$', '😀', true],
    ['^.$', '😀', true],
    ['^(?<year>\\d{4})$', '2026', true],
    ['^\\p{Script=Greek}+$', 'αβγ', true],
    ['^[[]$', '[', true],
    ['^[\\b]$', '\b', true],
    ['^a\\/b\\-c$', 'a/b-c', true],
    ['^\\d$', '٣', false],
  ])('reads %s as ECMAScript does', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
    expect(new RegExp(pattern, pattern.includes('\\-') ? '' : 'u').test(text)).toBe(expected);
  });

  test.each([
    '(?=a)',
    '(?!a)',
    '(?<=a)b',
    '(?<!a)b',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    '\\Qa.b\\E',
    '\\Aa\\z',
    'a{2000}',
    '(',
  ])('has no form for %s', (pattern) => {
    expect(engine.compile(pattern)).toBeNull();
  });

  test('agrees with the native engine on patterns made of common parts', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '[ab]',
      '[^a]',
      '\\d',
      '\\w',
      '\\s',
      '.',
      '(?:ab)',
      '(a|b)',
      '\\.',
      '[a-c-]',
    );
    const times = fc.constantFrom('', '*', '+', '?', '{1,3}', '*?');
    const pattern = fc
      .tuple(fc.constantFrom('', '^'), fc.array(fc.tuple(part, times), { maxLength: 6 }), fc.constantFrom('', '$'))
      .map(([start, parts, end]) => start + parts.map(([p, t]) => p + t).join('') + end);
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', 'c', '1', '_', ' ', '.', '\n', 'é', '\u00a0'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(pattern, text, (p, t) => {
        engine.renew();
        expect(matches(p, t)).toBe(new RegExp(p, 'u').test(t));
      }),
    );
  });

  test('lets long texts pass once the budget for a value is spent, and stops short ones', () => {
    engine.renew();
    const pattern = engine.compile('^(a+)+$');
    expect(pattern?.test('b'.repeat(2_000_000))).toBe(true);
    expect(pattern?.test('b'.repeat(2_000))).toBe(false);
    const wide = engine.compile(`^(?:${'a?'.repeat(500)})$`);
    const many = () => {
      for (let i = 0; i < 1_000; i++) wide?.test('b'.repeat(1_000));
    };
    expect(many).toThrow(TooMuchMatching);
    engine.renew();
    expect(pattern?.test('b'.repeat(2_000))).toBe(false);
  });
});

test('a pattern with an escape that only RE2 knows has no translation', () => {
  expect(toRe2('\\Cx')).toBeNull();
  expect(toRe2('a.c')).toBe('a[^\\n\\r\\x{2028}\\x{2029}]c');
});
