import type { Json, JsonObject, Reason } from '../contracts/index.ts';
import { isJsonObject, pointerSegment } from './json-object.ts';
import { resolveLocal } from './schema-refs.ts';

/** Members of an enum that leave room for what isn't among the others. */
const WAY_OUT =
  /^(?:other|others|unknown|unclear|unspecified|undetermined|none|n\/?a|not[\s_-]?(?:stated|given|known|found|applicable|available|specified))$/i;
const OTHER = /^others?$/i;
/** Names of what says more about an "other". */
const DETAIL = /detail|other|describ|descript|note|comment|explain|reason|text/i;
/** Nesting that is looked at; a schema may contain itself. */
const DEEPEST = 12;

/**
 * Where a schema of a record leaves a model no way to say that the source doesn't: a member that has to be there and can't
 * be null, an enum without a way out, an "other" that nothing says more about. There a model has to invent.
 *
 * @param schema JSON Schema (2020-12) of an object
 * @returns one reason a place, with the code `schema_cannot_say_missing`
 */
export function missingReasons(schema: Json): readonly Reason[] {
  const reasons: Reason[] = [];
  const say = (path: string, text: string) => {
    reasons.push({ room: 'tools', code: 'schema_cannot_say_missing', text: `"${path}" ${text}` });
  };
  const root = isJsonObject(schema) ? schema : {};
  const visit = (given: Json, path: string, depth: number): void => {
    const member = target(root, given);
    if (member === null || depth > DEEPEST) return;
    for (const item of [member.items, member.additionalProperties]) {
      if (isJsonObject(item)) visit(item, `${path}/*`, depth + 1);
    }
    for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
      for (const form of Array.isArray(member[keyword]) ? member[keyword] : []) visit(form, path, depth + 1);
    }
    const properties = isJsonObject(member.properties) ? member.properties : {};
    const required = Array.isArray(member.required) ? member.required : [];
    for (const [name, each] of Object.entries(properties)) {
      const at = `${path}/${pointerSegment(name)}`;
      const property = target(root, each);
      if (property === null) continue;
      judge(property, required.includes(name), Object.keys(properties), at);
      visit(property, at, depth + 1);
    }
  };
  const judge = (property: JsonObject, isRequired: boolean, siblings: readonly string[], at: string): void => {
    if (property.const !== undefined) return;
    const name = at.slice(at.lastIndexOf('/') + 1);
    const choices = choicesOf(property);
    if (choices !== null) {
      const hasOther = choices.some((choice) => OTHER.test(choice));
      const isDetailed = siblings.some((sibling) => sibling !== name && DETAIL.test(sibling));
      if (hasOther && !isDetailed)
        say(at, 'can be "other", and nothing says what: add a text for it, such as "details".');
      if (hasOther || choices.some((choice) => WAY_OUT.test(choice))) return;
      if (isRequired && !takesNull(root, property)) {
        say(
          at,
          'has to be one of its values: let it be null, or add "unclear", or "other" with a text that says what.',
        );
      }
      return;
    }
    // A list may be empty, and of an object its members are looked at.
    if (!isRequired || takesNull(root, property) || isHolder(property)) return;
    say(at, 'has to be there and can not be null: let it be null, or leave it out of "required".');
  };
  visit(root, '', 0);
  const seen = new Set<string>();
  return reasons.filter(({ text }) => !seen.has(text) && seen.add(text));
}

function target(root: JsonObject, given: Json): JsonObject | null {
  if (!isJsonObject(given)) return null;
  if (typeof given.$ref !== 'string') return given;
  const found = resolveLocal(root, given.$ref);
  return isJsonObject(found) ? found : null;
}

function choicesOf({ enum: members }: JsonObject): readonly string[] | null {
  return Array.isArray(members) ? members.filter((member) => typeof member === 'string') : null;
}

function isHolder({ type, properties, items }: JsonObject): boolean {
  return type === 'array' || type === 'object' || properties !== undefined || items !== undefined;
}

function takesNull(root: JsonObject, schema: JsonObject): boolean {
  const { type, enum: members, anyOf, oneOf } = schema;
  if (Array.isArray(members)) return members.includes(null);
  if (type !== undefined) return type === 'null' || (Array.isArray(type) && type.includes('null'));
  const forms = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : null;
  if (forms === null) return true;
  return forms.some((form) => {
    const member = target(root, form);
    return member !== null && takesNull(root, member);
  });
}
