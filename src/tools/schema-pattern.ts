import { cutAt } from './printable.ts';

/** A regular expression as a schema validator uses it: is there a match anywhere? */
export interface Pattern {
  test(text: string): boolean;
}

const MAX_PATTERN = 4_096;
/** Program size times text length up to which a match is computed: about a second of work. */
const MAX_WORK = 50_000_000;
const SPACE = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';

/**
 * An ECMAScript pattern in RE2's syntax. Only what differs is rewritten; what RE2 doesn't know (look-around,
 * back-references) stays and is refused by its compiler.
 */
export function toRe2(pattern: string): string {
  let out = '';
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const rest = pattern.slice(i);
    const char = pattern[i] ?? '';
    if (char === '\\') {
      const [length, text] = translated(rest, inClass);
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
function translated(rest: string, inClass: boolean): readonly [number, string] {
  const pair = /^\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})/i.exec(rest);
  if (pair?.[1] && pair[2]) {
    const code = (Number.parseInt(pair[1], 16) - 0xd800) * 0x400 + (Number.parseInt(pair[2], 16) - 0xdc00) + 0x10000;
    return [pair[0].length, `\\x{${code.toString(16)}}`];
  }
  const hex = /^\\u\{([0-9a-f]{1,6})\}|^\\u([0-9a-f]{4})|^\\x([0-9a-f]{2})/i.exec(rest);
  if (hex) return [hex[0].length, `\\x{${hex[1] ?? hex[2] ?? hex[3]}}`];
  const control = /^\\c([a-z])/i.exec(rest);
  if (control?.[1]) return [3, `\\x{${(control[1].charCodeAt(0) % 32).toString(16)}}`];
  const property = /^\\([pP])\{(?:General_Category|gc|Script|sc|Script_Extensions|scx)=([^}]+)\}/.exec(rest);
  if (property) return [property[0].length, `\\${property[1]}{${property[2]}}`];
  const next = rest[1] ?? '';
  if (next === 's') return [2, inClass ? SPACE : `[${SPACE}]`];
  if (next === 'S' && !inClass) return [2, `[^${SPACE}]`];
  if (next === '0') return [2, '\\x{0}'];
  if (next === 'b' && inClass) return [2, '\\x{8}'];
  // Escapes that mean something to RE2 only: it must not read them.
  if (/[AzQECGZ]/.test(next)) return [2, `\\${next}(?=`];
  return [2, `\\${next}`];
}

/** Compiles patterns to an engine whose time is linear in the text. */
export interface LinearEngine {
  /** A pattern, or null when the engine has no form for it. */
  compile(pattern: string): Pattern | null;
}

/** Loads the linear-time engine (RE2) at first use. */
export async function linearEngine(): Promise<LinearEngine> {
  const { RE2JS } = await import('re2js');
  return {
    compile(pattern) {
      if (pattern.length > MAX_PATTERN) return null;
      try {
        const compiled = RE2JS.compile(toRe2(pattern));
        const size = Math.max(1, compiled.programSize());
        // Too much work for one value: the pattern isn't enforced on it.
        return { test: (text) => text.length * size > MAX_WORK || compiled.matcher(text).find() };
      } catch {
        return null;
      }
    },
  };
}

/** A pattern as shown in a note. */
export function shownPattern(pattern: string): string {
  return cutAt(pattern, 120);
}
