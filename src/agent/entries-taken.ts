/**
 * Rule of this file: what an author says of one tool may not go with the other tools or with the model. Of such an entry the
 * part that would have the whole request refused is left out; the tool stays as far as it can be called.
 */
import type { Json, JsonObject } from '../contracts/index.ts';
import { isObject } from './blocks.ts';
import { loadedEntry } from './deferred-entry.ts';

/** The first versions whose code calls tools; web tools of this date on bring such code with them. */
const CALLING_CODE = 20250825;
const CALLING_WEB = 20260209;
const MOST_MARKS = 4;

/**
 * The entries of a request as the API takes them beside each other.
 *
 * @param noCode the model's provider runs no code that could call tools
 */
export function entriesTaken(entries: readonly Json[], noCode: boolean): Json[] {
  const hasCode = !noCode && entries.some(runsCode);
  const fitted = entries.flatMap((entry): Json[] => (isObject(entry) ? fittedEntry(entry, hasCode) : [entry]));
  // Where all are deferred, nothing could find them.
  return withMarksTaken(fitted.length > 0 && fitted.every(isDeferred) ? fitted.map(loadedEntry) : fitted);
}

/** At most four cache breakpoints, the last ones, and none of an hour behind one of five minutes. */
function withMarksTaken(entries: readonly Json[]): Json[] {
  let left = entries.filter((entry) => isObject(entry) && isObject(entry.cache_control)).length;
  let isShort = false;
  return entries.map((entry) => {
    if (!isObject(entry) || !isObject(entry.cache_control)) return entry;
    const { cache_control: mark, ...rest } = entry;
    left -= 1;
    if (left >= MOST_MARKS) return rest;
    const { ttl, ...short } = mark;
    if (ttl !== '1h') isShort = true;
    return isShort && ttl === '1h' ? { ...rest, cache_control: short } : entry;
  });
}

function fittedEntry(entry: JsonObject, hasCode: boolean): JsonObject[] {
  const { allowed_callers: callers, strict, cache_control: mark, ...rest } = entry;
  const list = Array.isArray(callers) ? callers : [];
  const byCode = list.some((caller) => caller !== 'direct') && !isByDate(entry, 'web');
  // A deferred entry isn't in the prompt that is cached.
  const noMark = mark !== undefined && isDeferred(entry);
  const noStrict = strict === true && (byCode ? hasCode : refersElsewhere(entry.input_schema));
  if (!byCode && !noMark && !noStrict) return [entry];
  if (byCode && !hasCode && !list.includes('direct')) return [];
  return [
    {
      ...rest,
      ...(callers !== undefined && (!byCode || hasCode) && { allowed_callers: callers }),
      ...(strict !== undefined && !noStrict && { strict }),
      ...(mark !== undefined && !noMark && { cache_control: mark }),
    },
  ];
}

/** Strict tool use knows references within a schema by their pointer alone, and not by an `$id`. */
function refersElsewhere(schema: Json | undefined): boolean {
  return /"\$ref":"(?!#)/.test(JSON.stringify(schema ?? null));
}

function isDeferred(entry: Json): boolean {
  return isObject(entry) && entry.defer_loading === true;
}

function runsCode(entry: Json): boolean {
  return isObject(entry) && (isByDate(entry, 'code_execution') || isByDate(entry, 'web'));
}

function isByDate({ type }: JsonObject, kind: 'code_execution' | 'web'): boolean {
  const [, name, date] = (typeof type === 'string' && /^(code_execution|web)_(?:\w+_)?(\d{8})$/.exec(type)) || [];
  return name === kind && Number(date) >= (kind === 'web' ? CALLING_WEB : CALLING_CODE);
}
