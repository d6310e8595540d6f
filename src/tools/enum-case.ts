/**
 * Rule of this file: where the schema has exactly one value that a string is but for its letter case, that value is meant.
 * A model may give a value of an `enum` or a `const` in another case, also under strict tool use.
 */
import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject, ownMember } from './json-object.ts';
import { resolveLocal } from './schema-refs.ts';

/** One string that was put right. */
export interface CaseCorrection {
  readonly path: readonly (string | number)[];
  readonly from: string;
  readonly to: string;
}

export interface Corrected {
  readonly args: JsonObject;
  readonly corrections: readonly CaseCorrection[];
}

/** Schemas and values of enums that are looked at for one call's arguments. */
const MOST_WORK = 500_000;
const HOLDERS = ['allOf', 'anyOf', 'oneOf'] as const;

/**
 * The arguments with the letter case of enum values put right; null where there is nothing to put right, or too much to
 * look at. Whether they fit the schema then is for its check to say.
 */
export function enumCase(schema: Json, args: JsonObject): Corrected | null {
  const corrections: CaseCorrection[] = [];
  let work = 0;
  /** All schemas that may speak of the same value. */
  const sameValue = (schemas: readonly Json[]): readonly JsonObject[] => {
    const all = new Set<JsonObject>();
    const open = [...schemas];
    for (let next = open.pop(); next !== undefined && work < MOST_WORK; next = open.pop()) {
      work += 1;
      if (!isJsonObject(next) || all.has(next)) continue;
      all.add(next);
      if (typeof next.$ref === 'string' && isJsonObject(schema)) open.push(resolveLocal(schema, next.$ref) ?? true);
      for (const holder of HOLDERS) {
        const forms = next[holder];
        if (Array.isArray(forms)) open.push(...forms);
      }
      for (const branch of [next.then, next.else]) if (branch !== undefined) open.push(branch);
    }
    return [...all];
  };
  const meant = (value: string, schemas: readonly JsonObject[]): string | null => {
    const matches = new Set<string>();
    const folded = value.toLowerCase();
    for (const { enum: members, const: only } of schemas) {
      const choices = Array.isArray(members) ? members : only === undefined ? [] : [only];
      work += choices.length;
      for (const choice of choices) {
        if (choice === value) return null;
        if (typeof choice === 'string' && choice.toLowerCase() === folded) matches.add(choice);
      }
    }
    const [match = null, ...more] = matches;
    return more.length === 0 ? match : null;
  };
  const visit = (value: Json, given: readonly Json[], path: CaseCorrection['path']): Json => {
    if (work >= MOST_WORK || given.length === 0) return value;
    const schemas = sameValue(given);
    if (typeof value === 'string') {
      const to = meant(value, schemas);
      if (to === null) return value;
      corrections.push({ path, from: value, to });
      return to;
    }
    if (Array.isArray(value)) {
      return value.map((item, at) =>
        visit(
          item,
          schemas.flatMap((each) => itemAt(each, at)),
          [...path, at],
        ),
      );
    }
    if (!isJsonObject(value)) return value;
    const members = Object.entries(value).map(([name, member]): [string, Json] => [
      name,
      visit(
        member,
        schemas.flatMap((each) => memberOf(each, name)),
        [...path, name],
      ),
    ]);
    return Object.fromEntries(members);
  };
  const made = visit(args, [schema], []);
  return corrections.length === 0 || work >= MOST_WORK || !isJsonObject(made) ? null : { args: made, corrections };
}

function itemAt({ items, prefixItems }: JsonObject, at: number): Json[] {
  const own = Array.isArray(prefixItems) ? prefixItems[at] : undefined;
  if (own !== undefined) return [own];
  // Older drafts: a list of items is what `prefixItems` is now.
  const each = Array.isArray(items) ? items[at] : items;
  return each === undefined ? [] : [each];
}

function memberOf({ properties, additionalProperties }: JsonObject, name: string): Json[] {
  const own = isJsonObject(properties) ? ownMember(properties, name) : undefined;
  const member = own ?? additionalProperties;
  return member === undefined ? [] : [member];
}

/** The arguments with what was put right as it was before, where it still stands. */
export function asProposed(args: JsonObject, corrections: readonly CaseCorrection[]): JsonObject {
  return corrections.reduce<Json>((value, { path, from, to }) => replaced(value, path, from, to), args) as JsonObject;
}

function replaced(value: Json, [step, ...rest]: CaseCorrection['path'], from: string, to: string): Json {
  if (step === undefined) return value === to ? from : value;
  if (Array.isArray(value)) {
    return value.map((item, at) => (at === step ? replaced(item, rest, from, to) : item));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === step ? replaced(member, rest, from, to) : member]),
  );
}

/** Values of one enum that are the same but for their letter case: of these nobody can tell which is meant. */
export function sameButForCase(values: readonly Json[]): readonly string[] {
  const byFold = new Map<string, Set<string>>();
  for (const value of values) {
    if (typeof value !== 'string') continue;
    const folded = value.toLowerCase();
    byFold.set(folded, (byFold.get(folded) ?? new Set()).add(value));
  }
  return [...byFold.values()].flatMap((same) => (same.size > 1 ? [...same] : []));
}
