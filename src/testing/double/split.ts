/**
 * How the texts of a stream are cut into deltas:
 * - `whole`: one delta a block
 * - `words`: as a model writes, a few characters at a time
 * - `awkward`: at the worst places there are: one UTF-16 unit at a time, so inside surrogate pairs, escapes and numbers;
 *   the JSON of inputs is written with `\u` escapes
 * - a number: pieces of so many UTF-16 units
 * - a function: its own pieces, which must add up to the text
 */
export type Split = 'whole' | 'words' | 'awkward' | number | ((text: string) => readonly string[]);

const WORDS = 12;

/** The pieces of a text, none of them empty. */
export function piecesOf(text: string, split: Split): readonly string[] {
  if (text === '') return [];
  if (typeof split === 'function') {
    const pieces = split(text).filter((piece) => piece !== '');
    if (pieces.join('') !== text) throw new RangeError('the pieces of a split must add up to the text');
    return pieces;
  }
  switch (split) {
    case 'whole':
      return [text];
    case 'words':
      return byCharacters(text, WORDS);
    case 'awkward':
      return byUnits(text, 1);
    default:
      return byUnits(text, Math.max(1, Math.floor(split)));
  }
}

/** The JSON of an input as it is streamed. */
export function inputText(input: unknown, split: Split): string {
  const text = JSON.stringify(input ?? {});
  return split === 'awkward' ? text.replace(/[\u0080-\uffff]/g, escaped) : text;
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function byUnits(text: string, size: number): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return pieces;
}

/** Cut between characters, never inside a surrogate pair. */
function byCharacters(text: string, size: number): readonly string[] {
  const characters = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(''));
  return pieces;
}
