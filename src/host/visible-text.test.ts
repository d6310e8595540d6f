import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printable } from '../tools/index.ts';
import { shellLine, visibleText } from './visible-text.ts';

describe('visibleText', () => {
  test.each([
    ['a\u202eb', 'a\\u202eb'],
    ['a\u200bb', 'a\\u200bb'],
    ['\u001b[2J', '\\u001b[2J'],
    ['a\nb\tc', 'a\\nb\\tc'],
    ['\u{e0041}', '\\udb40\\udc41'],
    ['\ud800', '\\ud800'],
    ['Grüße, 注文, 😀', 'Grüße, 注文, 😀'],
  ])('%j is shown as %s', (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  test('what it gives holds nothing that would have to be stripped before a person sees it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        const shown = visibleText(text);
        expect(printable(shown)).toBe(shown);
      }),
      { numRuns: 2000 },
    );
  });

  test('of JSON text it keeps the meaning', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(JSON.parse(visibleText(JSON.stringify(text)))).toBe(text);
      }),
    );
  });
});

describe('shellLine', () => {
  test('quotes what a shell would read otherwise', () => {
    expect(shellLine(['npx', '-y', 'a b', "it's", '', '$HOME', 'x\ny'])).toBe(
      String.raw`npx -y 'a b' 'it'\''s' '' '$HOME' $'x\ny'`,
    );
  });

  test('a shell reads the words back as they were', () => {
    const word = fc.string({
      unit: fc.constantFrom('a', ' ', "'", '"', '\\', '$', '`', '\n', '\t', '*', '~', '&', 'é'),
    });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), (words) => {
        const out = execFileSync('bash', ['-c', `printf '%s\\0' ${shellLine(['x', ...words])}`], { encoding: 'utf8' });
        expect(out.split('\0').slice(1, -1)).toEqual(words);
      }),
      { numRuns: 60 },
    );
  });
});
