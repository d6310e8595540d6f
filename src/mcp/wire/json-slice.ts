/** Where a value stands in a JSON text: `text.slice(start, end)`. */
export interface Slice {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
    at += 1;
  }
  return at;
}

/**
 * Where a string ends, just after its closing quote; the end of the text where it has none.
 *
 * @param from where its opening quote stands
 */
export function afterString(text: string, from: number): number {
  let quote = text.indexOf('"', from + 1);
  while (quote !== -1) {
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

function skipValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = afterString(text, at);
      if (depth === 0) return at;
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (code === COMMA || code <= 0x20)) return at;
    at += 1;
  }
  return at;
}

/**
 * The members of a JSON object, each as the slice of its value, so that a value can be passed on exactly as received:
 * `12345678901234567890` and `1.0` keep their spelling. Of a repeated name the last counts, as in `JSON.parse`.
 *
 * @param text valid JSON: what `JSON.parse` refuses gives an answer without meaning
 * @returns an empty map when the text isn't an object
 */
export function memberSlices(text: string): Map<string, Slice> {
  const members = new Map<string, Slice>();
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACE) return members;
  at = skipSpace(text, at + 1);
  while (at < text.length && text.charCodeAt(at) === QUOTE) {
    const nameEnd = afterString(text, at);
    const spelled = text.slice(at + 1, nameEnd - 1);
    const name = spelled.includes('\\') ? (JSON.parse(`"${spelled}"`) as string) : spelled;
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = skipValue(text, start);
    members.set(name, { start, end });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) !== COMMA) break;
    at = skipSpace(text, at + 1);
  }
  return members;
}

/**
 * The elements of a JSON array as slices, in order.
 *
 * @param text valid JSON
 * @returns an empty list when the text isn't an array
 */
export function elementSlices(text: string): Slice[] {
  const elements: Slice[] = [];
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN_BRACKET) return elements;
  at = skipSpace(text, at + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = skipValue(text, at);
    elements.push({ start: at, end });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) !== COMMA) break;
    at = skipSpace(text, at + 1);
  }
  return elements;
}
