/** Where a text stops being JSON (RFC 8259), and what could have stood there. */
export interface JsonError {
  /** UTF-16 units from the start, from 0. */
  readonly position: number;
  readonly expected: string;
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;
/** What may stand in a string: no control character below space as it is, and only the escapes that there are. */
const STRING_PART = /(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/uy;

/**
 * Finds the first error in a text that `JSON.parse` refused. The engine's own words differ by version and often have no
 * position. `undefined` when the text is JSON after all.
 */
export function jsonErrorAt(text: string): JsonError | undefined {
  /** What is open, innermost last: the closing bracket of each. */
  const open: ('}' | ']')[] = [];
  let at = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (!match) return false;
    at += match[0].length;
    return true;
  };
  const take = (character: string): boolean => {
    skip(SPACE);
    if (text[at] !== character) return false;
    at += 1;
    return true;
  };
  const string = (): string | undefined => {
    skip(STRING_PART);
    if (text[at] === '"') {
      at += 1;
      return undefined;
    }
    if (at >= text.length) return 'the string\'s closing "';
    return text[at] === '\\' ? 'a valid escape after \\' : 'an escape for this character';
  };
  const fail = (expected: string): JsonError => ({ position: at, expected });

  let wants: 'value' | 'name' | 'next' = 'value';
  /** True right after an opening bracket, where its closing one may follow. */
  let fresh = false;
  for (;;) {
    const closing = open.at(-1);
    if (wants === 'next') {
      if (closing === undefined) {
        skip(SPACE);
        return at >= text.length ? undefined : fail('nothing more after the value');
      }
      if (take(closing)) {
        open.pop();
      } else if (take(',')) {
        wants = closing === '}' ? 'name' : 'value';
      } else return fail(`"," or "${closing}"`);
    } else if (fresh && closing !== undefined && take(closing)) {
      open.pop();
      wants = 'next';
      fresh = false;
    } else if (wants === 'name') {
      if (!take('"')) return fail(fresh ? 'a name in double quotes or "}"' : 'a name in double quotes');
      const bad = string();
      if (bad) return fail(bad);
      if (!take(':')) return fail('":"');
      wants = 'value';
      fresh = false;
    } else if (take('{')) {
      open.push('}');
      wants = 'name';
      fresh = true;
    } else if (take('[')) {
      open.push(']');
      fresh = true;
    } else if (take('"')) {
      const bad = string();
      if (bad) return fail(bad);
      wants = 'next';
      fresh = false;
    } else if (skip(LITERAL) || skip(NUMBER)) {
      wants = 'next';
      fresh = false;
    } else return fail(fresh ? 'a value or "]"' : 'a value');
  }
}
