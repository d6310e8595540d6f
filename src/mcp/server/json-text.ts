import { afterString } from '../wire/index.ts';

/** Nesting that no message of use has, and that the recursive parts of a program still survive. */
export const MAX_DEPTH = 512;

const QUOTE = 0x22;

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
    if (code === QUOTE) at = afterString(text, at) - 1;
    // [ and { differ from ] and } by two, and each pair by 0x20.
    else if ((code & 0xdf) === 0x5b) {
      depth += 1;
      if (depth > limit) return true;
    } else if ((code & 0xdf) === 0x5d) depth -= 1;
  }
  return false;
}

/** JSON text as one line: in valid JSON, line ends stand only between tokens. */
export function inOneLine(text: string): string {
  return text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]+/g, ' ') : text;
}
