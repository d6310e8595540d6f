import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutAt, printable } from './printable.ts';

describe('printable', () => {
  test('leaves ordinary text of every script alone', () => {
    const text = 'Grüße, Привет, 你好, שלום, 👍🏽 — “quoted” ✓';
    expect(printable(text)).toBe(text);
  });

  test.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['a cleared screen', 'a\u001b[2J\u001b[Hb', 'ab'],
    ['a window title', '\u001b]0;owned\u0007ok', 'ok'],
    ['a hyperlink', '\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\', 'link'],
    ['a character set', '\u001b(0x', 'x'],
    ['a reset', '\u001bcx', 'x'],
    ['a C1 control sequence', '\u009b31mred', 'red'],
    ['a device string', '\u001bPq#0;secret\u001b\\x', 'x'],
    ['a sequence that never ends', '\u001b]0;rest', ''],
    ['a sequence cut short', 'x\u001b', 'x'],
    ['bidi overrides', 'a\u202egnp.exe\u2066b\u2069', 'agnp.exeb'],
    ['zero-width characters', 'pass\u200bword\ufeff\u2060', 'password'],
    ['tag characters', `hi${String.fromCodePoint(0xe0049, 0xe0067)}`, 'hi'],
    ['supplementary variation selectors', `a${String.fromCodePoint(0xe0101)}`, 'a'],
    ['lone surrogates', 'a\ud800b\udc00', 'ab'],
    ['control characters', 'a\u0000\u0008\u007f\u0085b', 'ab'],
    ['a carriage return that would overwrite the line', 'safe\rEVIL', 'safe EVIL'],
  ])('takes out %s', (_, text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  test('keeps line ends and tabs only when asked to', () => {
    expect(printable('a\r\n\tb\rc', { newlines: true })).toBe('a\n\tb\nc');
    expect(printable('a\r\n\tb')).toBe('a b');
  });

  test('an unended sequence takes no more than its line', () => {
    expect(printable('\u001b]0;x\nnext', { newlines: true })).toBe('\nnext');
  });

  test('marks a cut', () => {
    expect(printable('abcdef', { maxLength: 4 })).toBe('abc…');
    expect(printable('abcd', { maxLength: 4 })).toBe('abcd');
    expect(printable('a😀b', { maxLength: 3 })).toBe('a…');
  });

  test('never lets a hidden character through, and changes nothing the second time', () => {
    const unit = fc.oneof(
      fc.constantFrom('\u001b', '[', ']', '\u0007', '\u009c', '\u202e', '\u200b', '\ud800', '\n', '\r', '\\', 'm', ';'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    const forbidden = /[\p{Cc}\p{Cs}\u200b-\u200f\u202a-\u202e\u2060-\u206f\u061c\ufeff\u{e0000}-\u{e0fff}]/u;
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), fc.boolean(), (text, newlines) => {
        const out = printable(text, { newlines });
        expect(newlines ? out.replace(/[\n\t]/g, '') : out).not.toMatch(forbidden);
        expect(printable(out, { newlines })).toBe(out);
      }),
      { numRuns: 1_000 },
    );
  });
});

test('cutAt never splits a surrogate pair', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, length) => {
      const cut = cutAt(text, length);
      expect(text.startsWith(cut)).toBe(true);
      expect(cut.length).toBeLessThanOrEqual(Math.max(length, 0));
      expect(/[\ud800-\udbff]$/.test(cut)).toBe(false);
    }),
  );
});
