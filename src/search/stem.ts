/** Endings that carry grammar rather than meaning, longest first, each with what stays in its place. */
const ENDINGS: readonly (readonly [ending: string, replacement: string])[] = [
  ['ization', 'ize'],
  ['fulness', 'ful'],
  ['ments', 'ment'],
  ['nesses', 'ness'],
  ['ings', ''],
  ['edly', ''],
  ['ing', ''],
  ['ies', 'y'],
  ['ied', 'y'],
  ['ed', ''],
  ['ly', ''],
  ['s', ''],
];

const VOWEL = /[aeiouy]/;

/**
 * A light English stem: it joins plural and singular, and the forms of a regular verb, and leaves the rest alone.
 *
 * Both sides of a comparison must be stemmed; the result is a key, not a word to show.
 *
 * @param word one lower-case word
 * @returns its stem; words of three letters or fewer, and words with digits or letters outside a–z, come back unchanged
 */
export function stem(word: string): string {
  if (word.length <= 3 || !/^[a-z]+$/.test(word)) return word;
  if (/(?:ss|us|is)$/.test(word)) return word;
  let base = word.replace(/(ss|x|z|ch|sh)es$/, '$1');
  if (base === word) {
    for (const [ending, replacement] of ENDINGS) {
      if (!word.endsWith(ending)) continue;
      const rest = word.slice(0, -ending.length);
      if (rest.length >= 2 && VOWEL.test(rest)) base = rest + replacement;
      break;
    }
  }
  if (base.length > 3 && /([bdgklmnprt])\1$/.test(base) && base !== word) base = base.slice(0, -1);
  if (base.length > 3 && base.endsWith('e')) base = base.slice(0, -1);
  return base.length > 3 && base.endsWith('i') ? `${base.slice(0, -1)}y` : base;
}
