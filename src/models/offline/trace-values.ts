import type { Json, JsonObject } from '../../contracts/index.ts';
import { isObject, list, readTurns } from './conversation.ts';

/** Where a value of a call was found. `joined`: a file and its directory, both from the conversation, as one path. */
export type ValueOrigin = 'conversation' | 'result' | 'joined' | 'default' | 'const' | 'enum' | 'unexplained';

export interface TracedValue {
  /** JSON Pointer (RFC 6901) into the call's input. */
  readonly path: string;
  readonly value: Json;
  readonly source: ValueOrigin;
}

/**
 * Looks for the origin of every value of a call, knowing nothing of how the call came about: an audit of any model's
 * calls, the planner's own included.
 *
 * A string is explained by standing in the user's words or being a value of an earlier result, a number by its digits
 * standing there, anything by the schema's default, const or enum (an enum's member only if it is the only one, or the
 * user's words spell it).
 *
 * @param request the Messages API request body that the call answers
 * @param toolUse the `tool_use` block: `{name, input}`
 * @returns each scalar of the input with its origin; `unexplained` where there is none
 */
export function traceValues(request: Json, toolUse: Json): readonly TracedValue[] {
  const body = isObject(request) ? request : {};
  const call = isObject(toolUse) ? toolUse : {};
  const turns = readTurns(body.messages);
  const words = turns.map(({ text }) => text).join('\n');
  const results = turns.flatMap(({ calls }) => calls).flatMap(({ answer }) => [...answer.documents, ...answer.texts]);
  const found = new Set<Json>(results.flatMap((document) => scalars(document).map(({ value }) => value)));
  const tool = list(body.tools).find((one) => isObject(one) && one.name === call.name);
  const schema = isObject(tool) && isObject(tool.input_schema) ? tool.input_schema : {};
  return scalars(call.input ?? {}).map(({ path, value, steps }) => {
    return { path, value, source: originOf(value, schemaAt(schema, steps), words, found) };
  });
}

function originOf(value: Json, schema: JsonObject, words: string, found: ReadonlySet<Json>): ValueOrigin {
  if (typeof value === 'number' && numbersIn(words).has(value)) return 'conversation';
  if (typeof value === 'string' && value !== '' && schema.enum === undefined && stands(value, words))
    return 'conversation';
  if (found.has(value) || (typeof value === 'string' && found.has(Number(value)))) return 'result';
  if (schema.const !== undefined && same(schema.const, value)) return 'const';
  if (schema.default !== undefined && same(schema.default, value)) return 'default';
  const members = list(schema.enum);
  const isMember = members.some((member) => same(member, value));
  if (isMember && (members.length === 1 || words.toLowerCase().includes(spaced(String(value))))) return 'enum';
  if (typeof value === 'boolean' && new RegExp(`\\b${value}\\b`, 'i').test(words)) return 'conversation';
  return typeof value === 'string' && isJoined(value, words) ? 'joined' : 'unexplained';
}

function isJoined(path: string, words: string): boolean {
  const cut = path.lastIndexOf('/');
  return cut >= 0 && stands(path.slice(0, cut) || '/', words) && stands(path.slice(cut + 1), words);
}

/** Whether a text stands in the words as a whole: not as a part of a longer word or id. */
function stands(text: string, words: string): boolean {
  if (text === '') return false;
  const isPart = (sign: string | undefined) => sign !== undefined && /[\p{L}\p{N}_]/u.test(sign);
  for (let at = words.indexOf(text); at >= 0; at = words.indexOf(text, at + 1)) {
    const before = isPart(text[0]) && isPart(words[at - 1]);
    const after = isPart(text.at(-1)) && isPart(words[at + text.length]);
    if (!before && !after) return true;
  }
  return false;
}

function numbersIn(words: string): ReadonlySet<number> {
  return new Set(
    (words.match(/(?:(?<![\w.])[-+])?\d[\d,]*(?:\.\d+)?/g) ?? []).map((digits) => Number(digits.replaceAll(',', ''))),
  );
}

function spaced(text: string): string {
  return text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();
}

function same(a: Json, b: Json): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

interface Scalar {
  readonly path: string;
  readonly steps: readonly (string | number)[];
  readonly value: Json;
}

function scalars(value: Json, steps: readonly (string | number)[] = []): Scalar[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => scalars(item, [...steps, at]));
  if (isObject(value)) return Object.entries(value).flatMap(([key, item]) => scalars(item, [...steps, key]));
  const path = steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  return [{ path, steps, value }];
}

function schemaAt(schema: JsonObject, steps: readonly (string | number)[]): JsonObject {
  let here: Json | undefined = schema;
  for (const step of steps) {
    if (!isObject(here)) return {};
    const properties: Json | undefined = here.properties;
    here =
      typeof step === 'number'
        ? here.items
        : isObject(properties) && Object.hasOwn(properties, step)
          ? properties[step]
          : undefined;
  }
  return isObject(here) ? here : {};
}
