import { describe, expect, test } from 'vitest';
import { documentText, inWords, isEmptyDocument, linesOf, money } from './format.ts';

describe('money', () => {
  test.each([
    [1250, 'USD', true, '$12.50'],
    [12.5, 'EUR', false, '€12.50'],
    [1250, 'JPY', true, '¥1250'],
    [1250, 'KWD', true, '1.250 KWD'],
    [-5, 'usd', true, '-$0.05'],
  ] as const)('%d %s is %s', (value, currency, minor, expected) => {
    expect(money(value, currency, minor)).toBe(expected);
  });
});

describe('linesOf', () => {
  test('joins an amount with its currency, and names keys in words', () => {
    expect(
      linesOf({ amount_cents: 1250, currency: 'USD', createdAt: 'now' }).map(({ label, text }) => `${label}: ${text}`),
    ).toEqual(['amount: $12.50', 'created at: now']);
  });

  test('keeps a number that has no currency, and a currency that has no number', () => {
    expect(linesOf({ amount: 3 })[0]).toMatchObject({ text: '3', isMoney: false });
    expect(linesOf({ currency: 'USD' })[0]).toMatchObject({ text: 'USD' });
  });
});

describe('documentText', () => {
  test('gives a line for each thing in a list', () => {
    expect(
      documentText({
        total: 2,
        rows: [
          { name: 'a', tags: ['x', 'y'] },
          { name: 'b', tags: [] },
        ],
      }),
    ).toBe('Total: 2\nRows:\n- name a, tags x, y\n- name b, tags none');
  });

  test('says how many more there are', () => {
    expect(documentText(Array.from({ length: 53 }, (_, at) => at))).toMatch(/\n- and 3 more$/);
  });
});

test('inWords and isEmptyDocument know nothing from something', () => {
  expect([inWords(null), inWords([]), inWords(true), inWords(0)]).toEqual(['none', 'none', 'yes', '0']);
  expect([[], {}, { rows: [] }].every(isEmptyDocument)).toBe(true);
  expect(isEmptyDocument({ n: 0 })).toBe(false);
});
