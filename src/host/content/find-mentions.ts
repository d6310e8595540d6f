/** Something in a person's words that stands for content from elsewhere: `@report.pdf`, `@docs:docs://plan`, `@"a b.txt"`. */
export interface Mention {
  /** As written, the `@` included. */
  readonly text: string;
  /** Where it begins in the words, in UTF-16 units. */
  readonly at: number;
  /** What is meant, without `@` and quotation marks: a server's key and an address, an id, or a path. */
  readonly what: string;
}

/** A text with more of these isn't somebody's question any more. */
const MOST_MENTIONS = 64;
/** No address and no path of a person's is longer. */
const MOST_CHARS = 2_048;

/**
 * A mention begins the text, or follows white space or an opening mark; so an address such as `ada@example.org` has
 * none. It ends at white space, or with the quotation mark when it is quoted, after the `@` or after the first colon.
 */
const MENTION = /(?<![^\s([{<"'«“‘])@(?:"([^"\n]+)"|([^\s"@:]+:)"([^"\n]+)"|([^\s"@][^\s"]*))/gu;
const PAIRS: ReadonlyMap<string, string> = new Map([
  [')', '('],
  [']', '['],
  ['}', '{'],
  ['>', '<'],
]);

/** Finds what could be mentions in a person's words, in order. Whether each stands for anything is settled later. */
export function findMentions(words: string): readonly Mention[] {
  const found: Mention[] = [];
  for (const match of words.matchAll(MENTION)) {
    if (found.length >= MOST_MENTIONS) break;
    const [whole, quoted, key, rest, bare = ''] = match;
    if (whole.length > MOST_CHARS) continue;
    if (quoted !== undefined) found.push({ text: whole, at: match.index, what: quoted });
    else if (key !== undefined) found.push({ text: whole, at: match.index, what: `${key}${rest}` });
    else {
      const what = withoutPunctuation(bare);
      if (what !== '') found.push({ text: `@${what}`, at: match.index, what });
    }
  }
  return found;
}

/** What ends the sentence isn't part of the name, nor is a bracket that was opened before it. */
function withoutPunctuation(bare: string): string {
  let end = bare.length;
  for (; end > 0; end--) {
    const last = bare.charAt(end - 1);
    const opening = PAIRS.get(last);
    if (opening !== undefined) {
      const before = bare.slice(0, end);
      if (before.split(opening).length >= before.split(last).length) break;
    } else if (!/[.,;:!?'’”»…]/.test(last)) break;
  }
  return bare.slice(0, end);
}
