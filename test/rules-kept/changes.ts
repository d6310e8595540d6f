/**
 * Rule of this file: it changes one thing of a request, and knows nothing of the rules. Where such a change breaks a rule,
 * the request was one in which the rule could have been broken.
 */
import type { Json, JsonObject } from '../../src/contracts/index.ts';

const NAMING = new Set(['role', 'type', 'id', 'tool_use_id', 'name']);
const OTHERS: readonly Json[] = ['', ' ', 'Well, ', 'no such', -1, 1_000_000_000, null, [], {}];

/** Each request that is the given one but for a part that is left out, stands twice, changed its place, or is another. */
export function* oneChange(body: JsonObject): Generator<JsonObject> {
  const values = [...OTHERS, ...namesIn(body)];
  for (const made of changed(body, values)) yield made as JsonObject;
}

function* changed(value: Json, values: readonly Json[]): Generator<Json> {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const before = value.slice(0, at);
      const after = value.slice(at + 1);
      yield [...before, ...after];
      yield [...before, item, item, ...after];
      yield [item, ...before, ...after];
      yield [...before, ...after, item];
      for (const other of values) yield [...before, other, ...after];
      for (const made of changed(item, values)) yield [...before, made, ...after];
    }
  } else if (typeof value === 'object' && value !== null) {
    yield { ...value, something_new: 1 };
    for (const [key, item] of Object.entries(value)) {
      const { [key]: _, ...rest } = value;
      yield rest;
      yield { ...rest, something_new: item };
      for (const other of values) yield { ...value, [key]: other };
      for (const made of changed(item, values)) yield { ...value, [key]: made };
    }
  }
}

/** What names something elsewhere in the request: an id in the wrong place is likelier than nonsense. */
function namesIn(body: JsonObject): readonly string[] {
  const found = new Set<string>();
  const look = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(look);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) {
        if (typeof each === 'string' && NAMING.has(key)) found.add(each);
        else look(each);
      }
    }
  };
  look(body);
  return [...found];
}
