/** Nesting that no message of use has, and that the recursive parts of a program still survive. */
export const MAX_DEPTH = 512;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Whether a JSON text is nested more deeply than `limit`, without parsing it: what walks a value later is recursive, and
 * a text of a megabyte can hold a million levels.
 *
 * @param limit levels of arrays and objects
 */
export function isDeeperThan(text: string, limit: number): boolean {
  // Each level takes a bracket at both of its ends.
  if (text.length < 2 * limit) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    // [ and { differ from ] and } by two, and each pair by 0x20.
    else if ((code & 0xdf) === 0x5b) {
      depth += 1;
      if (depth > limit) return true;
    } else if ((code & 0xdf) === 0x5d) depth -= 1;
  }
  return false;
}

/** @param from where the opening quote stands */
function endOfString(text: string, from: number): number {
  let quote = text.indexOf('"', from + 1);
  while (quote !== -1) {
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) return quote;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

/** JSON text as one line: in valid JSON, line ends stand only between tokens. */
export function inOneLine(text: string): string {
  return text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]+/g, ' ') : text;
}
