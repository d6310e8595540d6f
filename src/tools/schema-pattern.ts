import { cutAt } from './printable.ts';

/** A regular expression as a schema validator uses it: is there a match anywhere? */
export interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

const MAX_PATTERN = 4_096;
const MAX_PROGRAM = 5_000;
/** Texts up to here are always matched; longer ones while `LONG_WORK` lasts. In UTF-16 units. */
const SHORT_TEXT = 1_000;
/** Work is program size times text length; 1,000,000 takes about 0.1 s at worst. */
const LONG_WORK = 5_000_000;
const ALL_WORK = 100_000_000;
const SPACE = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';

/** Thrown when matching one value has taken all the work it may. */
export class TooMuchMatching extends Error {}

/**
 * An ECMAScript pattern in RE2's syntax. Only what differs is rewritten; what RE2 doesn't know (look-around,
 * back-references) stays and is refused by its compiler.
 *
 * @returns null when the pattern has an escape that means something else in RE2
 */
export function toRe2(pattern: string): string | null {
  let out = '';
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const rest = pattern.slice(i);
    const char = pattern[i] ?? '';
    if (char === '\\') {
      const [length, text] = translated(rest, inClass);
      if (text === null) return null;
      out += text;
      i += length - 1;
    } else if (inClass) {
      if (char === ']') inClass = false;
      out += char === '[' ? '\\[' : char;
    } else if (rest.startsWith('[^]')) {
      out += '(?s:.)';
      i += 2;
    } else if (rest.startsWith('[]')) {
      out += '[^\\x{0}-\\x{10ffff}]';
      i += 1;
    } else if (char === '[') {
      inClass = true;
      out += char;
    } else {
      out += char === '.' ? '[^\\n\\r\\x{2028}\\x{2029}]' : char;
    }
  }
  return out;
}

/** One escape: how many characters of the source it takes, and what it is in RE2. */
function translated(rest: string, inClass: boolean): readonly [number, string | null] {
  const pair = /^\\u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})/.exec(rest);
  if (pair?.[1] && pair[2]) {
    const code = (Number.parseInt(pair[1], 16) - 0xd800) * 0x400 + (Number.parseInt(pair[2], 16) - 0xdc00) + 0x10000;
    return [pair[0].length, `\\x{${code.toString(16)}}`];
  }
  const hex = /^\\u\{([\da-fA-F]{1,6})\}|^\\u([\da-fA-F]{4})|^\\x([\da-fA-F]{2})/.exec(rest);
  if (hex) return [hex[0].length, `\\x{${hex[1] ?? hex[2] ?? hex[3]}}`];
  const control = /^\\c([a-zA-Z])/.exec(rest);
  if (control?.[1]) return [3, `\\x{${(control[1].charCodeAt(0) % 32).toString(16)}}`];
  const property = /^\\([pP])\{(?:General_Category|gc|Script|sc|Script_Extensions|scx)=([^}]+)\}/.exec(rest);
  if (property) return [property[0].length, `\\${property[1]}{${property[2]}}`];
  const next = rest[1] ?? '';
  if (next === 's') return [2, inClass ? SPACE : `[${SPACE}]`];
  if (next === 'S' && !inClass) return [2, `[^${SPACE}]`];
  if (next === '0') return [2, '\\x{0}'];
  if (next === 'b' && inClass) return [2, '\\x{8}'];
  // Escapes that mean something in RE2 only.
  if (/[AzQECGZ]/.test(next)) return [2, null];
  return [2, `\\${next}`];
}

/** Compiles patterns for an engine whose time is linear in the text. */
export interface LinearEngine {
  /** A pattern, or null when the engine has no form for it. Its `test` may throw `TooMuchMatching`. */
  compile(pattern: string): Pattern | null;
  /** Starts the budget anew, for the next value. */
  renew(): void;
}

/**
 * Loads the linear-time engine (RE2) at first use. Linear isn't short: matching has a budget for each value. When it
 * runs out, long texts pass unmatched.
 */
export async function linearEngine(): Promise<LinearEngine> {
  const { RE2JS } = await import('re2js');
  let work = 0;
  return {
    renew() {
      work = 0;
    },
    compile(pattern) {
      const re2 = pattern.length > MAX_PATTERN ? null : toRe2(pattern);
      if (re2 === null) return null;
      let compiled: ReturnType<typeof RE2JS.compile>;
      try {
        compiled = RE2JS.compile(re2);
      } catch {
        return null;
      }
      const size = Math.max(1, compiled.programSize());
      if (size > MAX_PROGRAM) return null;
      return {
        test(text) {
          const cost = size * text.length;
          if (text.length > SHORT_TEXT && work + cost > LONG_WORK) return true;
          work += cost;
          if (work > ALL_WORK) throw new TooMuchMatching();
          return compiled.matcher(text).find();
        },
      };
    },
  };
}

/** A pattern as shown in a note. */
export function shownPattern(pattern: string): string {
  return cutAt(pattern, 120);
}
