import { describe, expect, test } from 'vitest';
import { findMentions } from './mentions.ts';

const found = (text: string) => findMentions(text).map(({ kind, text: value }) => `${kind} ${value}`);

describe('findMentions', () => {
  test.each([
    ['Refund order O-104.', ['id O-104']],
    ['Is ticket T-2291 still open?', ['id T-2291']],
    ['Add 2 and -3.5, then 1,200', ['number 2', 'number -3.5', 'number 1,200']],
    ['Read notes.txt in /tmp/x.', ['path notes.txt', 'path /tmp/x']],
    ['Say \'two words\' and "more, of them"', ['quoted two words', 'quoted more, of them']],
    [
      'Mail bob@example.com about https://example.com/a?b=1.',
      ['email bob@example.com', 'url https://example.com/a?b=1'],
    ],
    ['On 2026-12-04 and head=3', ['date 2026-12-04', 'pair 3']],
    ['Find Ada Lovelace in New York', ['name Ada Lovelace', 'name New York']],
    ['Find files matching *.md', ['path *.md']],
    ['Please ask Dr about it', []],
    ['Where is my order?', []],
  ])('%s', (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test('gives every value as it stands in the text', () => {
    const text = `Set 'x head=3 y' on O-1, /a/b.c and "q" for Ada`;
    for (const { start, end, text: value } of findMentions(text)) expect(text.slice(start, end)).toBe(value);
  });

  test('takes a quotation whole, whatever stands in it', () => {
    expect(found(`Write 'see O-104 at /tmp/x, a=1'`)).toEqual(['quoted see O-104 at /tmp/x, a=1']);
  });

  test('says which words stand before and after', () => {
    const [mention] = findMentions('show the first 3 lines');
    expect(mention).toMatchObject({ text: '3', after: 'lin' });
    expect(mention?.cues.slice(0, 2)).toEqual(['first', 'the']);
  });

  test('doesn’t take an apostrophe for a quotation', () => {
    expect(found("don't say that it's Ada's")).toEqual(['name Ada']);
  });
});
