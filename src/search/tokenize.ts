import { stem } from './stem.ts';

/** Words so common that they tell no text from another. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an and any are as at be been but by can could did do does for from had has have he her him his how i if in into ' +
    'is it its me my no not of on or our shall she should so some such than that the their them then there these they ' +
    'this those to too us was we were what when where which who whom whose why will with would you your'
  ).split(' '),
);

const HAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/**
 * Splits text into lower-case words: at anything that isn't a letter or digit, at a change from lower to upper case
 * (`entityType`), before the last capital of a run (`HTTPServer`), so that names in code read like prose. Scripts
 * without spaces give overlapping pairs of characters.
 *
 * @param text any text
 * @returns the words in their order, stop words included
 */
export function splitWords(text: string): string[] {
  const spaced = text
    .normalize('NFKC')
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/(\p{L})['’](?:s|re|ve|ll|d|m|t)\b/giu, '$1');
  const words: string[] = [];
  for (const run of spaced.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []) {
    if (!HAN.test(run)) {
      words.push(run.toLowerCase());
      continue;
    }
    const signs = [...run];
    if (signs.length === 1) words.push(run);
    for (let at = 0; at + 1 < signs.length; at++) words.push(`${signs[at]}${signs[at + 1]}`);
  }
  return words;
}

/**
 * The terms by which a text is found: its words without stop words, stemmed.
 *
 * @param text any text, names in camelCase, snake_case or kebab-case included
 * @returns terms in their order, repeated ones included
 */
export function tokenize(text: string): string[] {
  const terms: string[] = [];
  for (const word of splitWords(text)) if (!STOP_WORDS.has(word)) terms.push(stem(word));
  return terms;
}
