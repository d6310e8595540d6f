import type { Json } from '../../contracts/index.ts';
import { namesSecret } from '../../tools/index.ts';

/** Stands where something was taken out. */
const REDACTED = '[redacted]';

/** What lies deeper is taken out: no call needs it, and walking it by recursion could fail. */
const MOST_DEPTH = 200;
/** Shorter values would be found in every text. */
const SHORTEST_SCRUBBED = 4;

export interface Redactor {
  /**
   * The value without what is to be left out.
   *
   * @param removed is given each string that was taken out
   */
  redact(value: Json, removed?: Set<string>): Json;
  /** Gives `removed` each string of the value, as if all of it were taken out. */
  takeOut(value: Json, removed: Set<string>): void;
  /** A text without the strings that were taken out of values. */
  scrub(text: string, removed: ReadonlySet<string>): string;
}

/**
 * @param fields member names, met at any depth (case, `-` and `_` don't count), or JSON Pointers (RFC 6901) from the
 *   top of arguments and facts, in which a part `*` stands for any one member or item
 */
export function redactor(fields: readonly string[]): Redactor {
  const names = new Set(fields.filter((field) => !field.startsWith('/')).map(plain));
  const pointers = fields
    .filter((field) => field.startsWith('/'))
    .map((field) => field.slice(1).split('/').map(unescaped));

  const takeOut = (value: Json, removed: Set<string> | undefined): Json => {
    if (removed) collect(value, removed);
    return REDACTED;
  };
  const walk = (
    value: Json,
    open: readonly (readonly string[])[],
    removed: Set<string> | undefined,
    depth: number,
  ): Json => {
    if (value === null || typeof value !== 'object') return value;
    if (depth > MOST_DEPTH) return takeOut(value, removed);
    const child = (key: string, inner: Json, isName: boolean): Json => {
      const next = open.filter(([first]) => first === '*' || first === key).map((path) => path.slice(1));
      const isOut =
        (isName && (names.has(plain(key)) || namesSecret(key, 'member'))) || next.some((path) => path.length === 0);
      return isOut ? takeOut(inner, removed) : walk(inner, next, removed, depth + 1);
    };
    if (Array.isArray(value)) return value.map((item, at) => child(String(at), item, false));
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, child(key, inner, true)]));
  };
  return {
    redact: (value, removed) => walk(value, pointers, removed, 1),
    takeOut: collect,
    scrub(text, removed) {
      let clean = text;
      // Longest first: one may be a part of another. Texts that quote JSON have it escaped.
      const secrets = [...removed].sort((one, other) => other.length - one.length);
      for (const secret of secrets) {
        clean = clean.replaceAll(JSON.stringify(secret).slice(1, -1), REDACTED).replaceAll(secret, REDACTED);
      }
      return clean;
    },
  };
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

function collect(whole: Json, into: Set<string>): void {
  const open = [whole];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value);
      if (text.length >= SHORTEST_SCRUBBED) into.add(text);
    } else if (value !== null && typeof value === 'object') {
      for (const inner of Object.values(value)) open.push(inner);
    }
  }
}
