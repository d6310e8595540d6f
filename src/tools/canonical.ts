import { hash } from 'node:crypto';
import type { Json, JsonObject } from '../contracts/index.ts';

/** Nothing that anybody means is nested so deep; what goes round in a circle is. */
const MOST_DEPTH = 100_000;

interface Open {
  readonly value: readonly Json[] | JsonObject;
  /** Null for a list. */
  readonly keys: readonly string[] | null;
  at: number;
}

/**
 * Canonical JSON text (RFC 8785): members sorted by UTF-16 code units, no white space, ECMAScript number form.
 * ECMAScript's own string and number serialisation is what the RFC prescribes, so only the order is ours. Without
 * recursion, since what outsiders nest must not decide whether there is a digest of it.
 *
 * @throws RangeError for what is nested more than 100,000 levels deep, such as what holds itself
 */
export function canonicalJson(whole: Json): string {
  if (whole === null || typeof whole !== 'object') return JSON.stringify(whole);
  let text = Array.isArray(whole) ? '[' : '{';
  const open = [opened(whole)];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { value, keys, at } = top;
    if (at === (keys ?? (value as readonly Json[])).length) {
      text += keys ? '}' : ']';
      open.pop();
      continue;
    }
    top.at += 1;
    if (at > 0) text += ',';
    const key = keys ? (keys[at] as string) : at;
    if (keys) text += `${JSON.stringify(key)}:`;
    const inner = (value as { readonly [key: string | number]: Json })[key] as Json;
    if (inner === null || typeof inner !== 'object') {
      text += JSON.stringify(inner);
      continue;
    }
    if (open.length === MOST_DEPTH) throw new RangeError('it is nested too deeply');
    text += Array.isArray(inner) ? '[' : '{';
    open.push(opened(inner));
  }
  return text;
}

function opened(value: readonly Json[] | JsonObject): Open {
  return { value, keys: Array.isArray(value) ? null : Object.keys(value).sort(), at: 0 };
}

/** SHA-256 of the UTF-8 text, in lower-case hex. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
