import { isAbsolute, resolve } from 'node:path';
import type { Identity, Json } from '../../contracts/index.ts';
import { canonicalJson, printable, resolvePointer } from '../../tools/index.ts';
import { pathInside } from '../real-path.ts';
import { allowedAddress } from './allowed-address.ts';
import { needsElements } from './narrow-schema.ts';
import type { ArgumentLimit } from './view.ts';

/** Longest list whose elements are looked at one by one. */
const MOST_ELEMENTS = 1_000;
const MOST_TOLD = 20;

export type Checked = { readonly value: Json } | { readonly why: string };

/**
 * Holds one value to its limit. This is what counts: the schema only tells about it. A list is held to it element by
 * element; other than lists and plain values are refused where they can't be compared.
 *
 * @param root absolute: what relative folders and paths are relative to; undefined: there is none
 * @returns the value to send on, or a sentence's end that says what is wrong
 */
export async function checkArgument(
  limit: ArgumentLimit,
  value: Json,
  who: Identity,
  root: string | undefined,
): Promise<Checked> {
  const { choices } = limit;
  if (choices) {
    const found = typeof choices === 'function' ? await choices(who) : choices;
    const chosen = typeof value === 'string' ? found.get(value) : undefined;
    return chosen === undefined ? { why: 'is not one of those that you may choose' } : { value: chosen };
  }
  const values = limit.values && (await valuesOf(limit.values, who));
  if (!Array.isArray(value)) return checkOne(limit, values, value, root);
  if (limit.maxItems !== undefined && value.length > limit.maxItems) return { why: `has more than ${limit.maxItems}` };
  // To many tools an empty list means what no argument means: everything.
  if (value.length === 0 && needsElements(limit)) return { why: 'must not be empty' };
  if (value.length > MOST_ELEMENTS) return { why: `has more than ${MOST_ELEMENTS} elements` };
  const sent: Json[] = [];
  for (const [at, element] of value.entries()) {
    const checked = checkOne(limit, values, element, root);
    if ('why' in checked) return { why: `${checked.why} (element ${at})` };
    sent.push(checked.value);
  }
  return { value: sent };
}

async function valuesOf(values: NonNullable<ArgumentLimit['values']>, who: Identity): Promise<readonly Json[]> {
  if (typeof values === 'function') return values(who);
  if (!('from' in values)) return values;
  const found = resolvePointer(who as unknown as Json, values.from);
  return found === undefined ? [] : Array.isArray(found) ? found : [found];
}

function checkOne(
  limit: ArgumentLimit,
  values: readonly Json[] | undefined,
  value: Json,
  root: string | undefined,
): Checked {
  if (limit.enum && !among(value, limit.enum)) {
    const told = limit.enum.slice(0, MOST_TOLD).map((each) => JSON.stringify(each));
    return { why: `must be one of ${told.join(', ')}` };
  }
  if (values && !among(value, values)) return { why: 'is not one of those that you may use' };
  const { minimum, maximum, minLength, maxLength, hosts, inside } = limit;
  if (minimum !== undefined && !(isNumber(value) && value >= minimum)) return { why: `must be at least ${minimum}` };
  if (maximum !== undefined && !(isNumber(value) && value <= maximum)) return { why: `must be at most ${maximum}` };
  const length = typeof value === 'string' ? [...value].length : undefined;
  if (minLength !== undefined && !(length !== undefined && length >= minLength)) {
    return { why: `must be a text of at least ${minLength} characters` };
  }
  if (maxLength !== undefined && !(length !== undefined && length <= maxLength)) {
    return { why: `must be a text of at most ${maxLength} characters` };
  }
  if (inside) return insidePath(value, inside, root);
  if (!hosts) return { value };
  if (typeof value !== 'string') return { why: 'must be an address' };
  const allowed = allowedAddress(value, hosts, limit.schemes ?? ['https']);
  return 'href' in allowed ? { value: allowed.href } : allowed;
}

/**
 * A relative path is the project's, and goes on as an absolute one: where a server would begin to read it, nobody can
 * tell.
 */
function insidePath(value: Json, folders: readonly string[], root: string | undefined): Checked {
  if (typeof value !== 'string') return { why: 'must be the path of a file or folder' };
  if (root === undefined && !isAbsolute(value)) return { why: 'must be an absolute path' };
  const base = root ?? '/';
  if (!folders.some((folder) => pathInside(value, folder, base) === 'yes')) {
    return { why: `must lie below ${folders.map((each) => printable(each)).join(' or ')}` };
  }
  return { value: isAbsolute(value) ? value : resolve(base, value) };
}

function isNumber(value: Json): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function among(value: Json, values: readonly Json[]): boolean {
  const text = canonicalJson(value);
  return values.some((each) => canonicalJson(each) === text);
}
