/**
 * Characters that a terminal doesn't show, or that change how others are shown: controls, bidi and zero-width
 * characters, line separators, unassigned and private ones, blanks that look like nothing, hidden selectors.
 */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|\u034f|[\u17b4\u17b5]|[\u180b-\u180f]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/gu;

/**
 * The text with each unseen character written as its JSON escape, so that whoever approves sees that it is there.
 * Unlike stripping, this hides nothing.
 *
 * @param options `newlines`: leave line feeds as they are
 */
export function visibleText(text: string, options: { readonly newlines?: boolean } = {}): string {
  return text.replace(UNSEEN, (found) => (found === '\n' && options.newlines === true ? found : escaped(found)));
}

function escaped(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  let out = '';
  for (let at = 0; at < character.length; at++) {
    out += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return out;
}

/**
 * A command as it could be typed into a POSIX shell, for a person to read; never handed to a shell by us. Arguments
 * with unseen characters stand in `$'…'` with the characters as escapes.
 */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  const shown = visibleText(word.replaceAll('\\', '\\\\'));
  if (shown !== word.replaceAll('\\', '\\\\')) return `$'${shown.replaceAll("'", "\\'")}'`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
