import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findMentions } from './find-mentions.ts';

describe('findMentions', () => {
  test.each<[string, string[]]>([
    ['What is in @report.pdf?', ['report.pdf']],
    ['@docs:docs://documents/report.pdf', ['docs:docs://documents/report.pdf']],
    ['see @docs:docs://a?x=1&y=2, please', ['docs:docs://a?x=1&y=2']],
    ['(@notes.txt) and "@other.md".', ['notes.txt', 'other.md']],
    ['@"my notes.txt" and @docs:"docs://my plan"', ['my notes.txt', 'docs:docs://my plan']],
    ['@wiki/Mars_(planet)', ['wiki/Mars_(planet)']],
    ['@./src/index.ts: what is it?', ['./src/index.ts']],
    ['mail ada@example.org or <ada@example.org>', []],
    ['a lone @ sign, @, @!', []],
    ['@a\n@b', ['a', 'b']],
    ['@résumé.pdf…', ['résumé.pdf']],
    ['x=@y', []],
  ])('%j', (words, whats) => {
    expect(findMentions(words).map(({ what }) => what)).toEqual(whats);
  });

  test('a mention stands where it says, as it says', () => {
    const words = fc
      .array(fc.constantFrom('@', 'a', 'b.md', ':', '"', ' ', '(', ')', '.', '\n', '/', '🐎'))
      .map((all) => all.join(''));
    fc.assert(
      fc.property(words, (text) => {
        let end = 0;
        for (const mention of findMentions(text)) {
          expect(text.slice(mention.at, mention.at + mention.text.length)).toBe(mention.text);
          expect(mention.at).toBeGreaterThanOrEqual(end);
          expect(mention.what.trim()).not.toBe('');
          end = mention.at + mention.text.length;
        }
      }),
    );
  });

  test('takes no longer for a long text, and has an end', () => {
    expect(findMentions('@a'.repeat(50_000))).toEqual([]);
    expect(findMentions('@a '.repeat(50_000))).toHaveLength(64);
    expect(findMentions(`@${')'.repeat(50_000)}`)).toEqual([]);
  });
});
