import type { Json, JsonObject, Reason } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';
import { type Pattern, shownPattern } from './schema-pattern.ts';
import { mapSchema } from './schema-walk.ts';

/** A keyword of ours: each use counts one step, so that a schema that branches without end is stopped. */
export const STEP = 'bridle:step';

export interface PreparedSchema {
  readonly schema: Json;
  readonly notes: readonly Reason[];
}

function omit(schema: JsonObject, ...keywords: string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)));
}

/** The schema without the identifiers of its parts. */
export function withoutIds(schema: Json): Json {
  return mapSchema(schema, (member) => omit(member, '$id'));
}

/** Older drafts' forms of one schema object in those of 2020-12. */
export function modern(schema: JsonObject): JsonObject {
  let out = omit(schema, '$schema', 'id', '$vocabulary', '$async', STEP);
  if (Array.isArray(out.items)) {
    const { items, additionalItems, ...rest } = out;
    out = {
      ...rest,
      ...(items.length > 0 && { prefixItems: items }),
      ...(additionalItems !== undefined && { items: additionalItems }),
    };
  }
  if (typeof out.required === 'boolean') out = omit(out, 'required');
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (out[flag] === true && out[bound] !== undefined) out = { ...omit(out, bound), [flag]: out[bound] };
    else if (typeof out[flag] === 'boolean') out = omit(out, flag);
  }
  if (out.multipleOf !== undefined && !(Number(out.multipleOf) > 0)) out = omit(out, 'multipleOf');
  // OpenAPI's `nullable` counts only beside a type.
  if (out.nullable !== undefined && (typeof out.nullable !== 'boolean' || out.type === undefined))
    out = omit(out, 'nullable');
  return out;
}

/** Without the patterns that can't be matched; what leans on them goes too, so that nothing right is refused. */
function enforceable(
  schema: JsonObject,
  compile: (pattern: string) => Pattern | null,
  dropped: Set<string>,
): JsonObject {
  let out = schema;
  if (typeof out.pattern === 'string' && compile(out.pattern) === null) {
    dropped.add(out.pattern);
    out = omit(out, 'pattern');
  }
  if (isJsonObject(out.patternProperties)) {
    const all = Object.entries(out.patternProperties);
    const kept = all.filter(([pattern]) => compile(pattern) !== null);
    if (kept.length < all.length) {
      for (const [pattern] of all) if (compile(pattern) === null) dropped.add(pattern);
      out = omit(out, 'patternProperties', 'additionalProperties', 'unevaluatedProperties');
      if (kept.length > 0) out = { ...out, patternProperties: Object.fromEntries(kept) };
    }
  }
  return out;
}

/**
 * A schema as the compiler takes it: 2020-12 forms, patterns that can be matched, steps counted at each reference.
 *
 * @param compile the pattern engine; null means that a pattern isn't enforced, which leaves a note
 */
export function prepareSchema(schema: Json, compile: (pattern: string) => Pattern | null): PreparedSchema {
  const dropped = new Set<string>();
  const prepared = mapSchema(schema, (member) => {
    const out = enforceable(omit(modern(member), '$comment', 'discriminator'), compile, dropped);
    return Object.hasOwn(out, '$ref') || Object.hasOwn(out, '$dynamicRef') ? { ...out, [STEP]: true } : out;
  });
  const notes = [...dropped].map(
    (pattern): Reason => ({
      room: 'tools',
      code: 'pattern_not_enforced',
      text: `The pattern "${shownPattern(pattern)}" is not enforced: it is no pattern, or has no form that always ends soon.`,
    }),
  );
  return { schema: prepared, notes };
}
