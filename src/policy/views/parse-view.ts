import type { Json, JsonObject } from '../../contracts/index.ts';
import { canonicalJson, isJsonObject, sha256 } from '../../tools/index.ts';
import { ADDRESS_SCHEMES, type AllowedHost, readHost } from './allowed-address.ts';
import { isPointer } from './pointers.ts';
import type { ArgumentLimit, View } from './view.ts';

const VIEW_KEYS = [
  'name',
  'server',
  'tool',
  'version',
  'title',
  'description',
  'examples',
  'strict',
  'arguments',
  'result',
  'keep',
  'upstream',
] as const;
const VIEW_RESULT_KEYS = ['keep'] as const;
const VIEW_ARGUMENT_KEYS = [
  'fixed',
  'from',
  'remove',
  'as',
  'description',
  'default',
  'optional',
  'enum',
  'values',
  'choices',
  'hosts',
  'schemes',
  'inside',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'maxItems',
] as const;

/** Keys that take an argument away; none of the others has a meaning beside one. */
const AWAY = ['fixed', 'from', 'remove'] as const;
const NUMBERS = ['minimum', 'maximum', 'minLength', 'maxLength', 'maxItems'] as const;
const MOST_NAME = 128;

export interface ParseViewOptions {
  /** Functions may stand for lists, as in programs. */
  readonly functions?: boolean;
  readonly source?: View['source'];
  /** It stands in a project's file. */
  readonly fromProject?: boolean;
}

/** What is wrong, in words that end a sentence "The view … can't be used: ". */
class Wrong extends Error {}

/**
 * Reads a view. Whatever in it isn't understood makes the whole view unusable (`problem`), since with less than its
 * author wrote it would let more pass.
 *
 * @param value holds at least `tool`, a text
 */
export function parseView(name: string, value: JsonObject, options: ParseViewOptions = {}): View {
  const isText = (key: string): string | undefined => (typeof value[key] === 'string' ? value[key] : undefined);
  const named = isText('name') ?? name;
  const base = {
    name: named,
    server: isText('server') ?? null,
    tool: isText('tool') ?? '',
    hash: sha256(canonicalJson([named, asJson(value)])),
    ...(options.source && { source: options.source }),
    ...(options.fromProject === true && { fromProject: true as const }),
  };
  try {
    return { ...base, ...readBody(value, named, options) };
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    return { ...base, arguments: new Map(), keepsTool: false, problem: error.message };
  }
}

function readBody(value: JsonObject, name: string, options: ParseViewOptions) {
  known(value, VIEW_KEYS, 'it');
  if (name.trim() === '' || name.length > MOST_NAME) throw new Wrong('its name is empty or too long.');
  if (typeof value.tool !== 'string' || value.tool === '') throw new Wrong('"tool" names no tool.');
  if (value.server !== undefined && (typeof value.server !== 'string' || value.server === '')) {
    throw new Wrong('"server" is no server\'s key.');
  }
  const texts = Object.fromEntries(
    (['version', 'title', 'description', 'upstream'] as const).flatMap((key) =>
      value[key] === undefined ? [] : [[key, text(value[key], `"${key}"`)]],
    ),
  );
  if (texts.upstream !== undefined && !/^[0-9a-f]{64}$/.test(texts.upstream)) {
    throw new Wrong('"upstream" is no fingerprint of 64 hexadecimal digits.');
  }
  const { examples, strict, result, keep } = value;
  if (examples !== undefined && !(Array.isArray(examples) && examples.every(isJsonObject))) {
    throw new Wrong('"examples" is not a list of argument objects.');
  }
  const limits: [string, ArgumentLimit][] = Object.entries(object(value.arguments ?? {}, '"arguments"')).map(
    ([argument, limit]) => [argument, readLimit(argument, limit, options)],
  );
  return {
    ...texts,
    ...(examples !== undefined && { examples: examples as readonly JsonObject[] }),
    ...(strict !== undefined && { strict: flag(strict, '"strict"') }),
    arguments: new Map(limits),
    ...(result !== undefined && { keep: readKeep(result) }),
    keepsTool: keep !== undefined && flag(keep, '"keep"'),
  };
}

function readKeep(value: Json): readonly string[] {
  const result = object(value, '"result"');
  known(result, VIEW_RESULT_KEYS, '"result"');
  const pointers = list(result.keep, '"result.keep"');
  if (pointers.length === 0 || !pointers.every((each) => typeof each === 'string' && isPointer(each))) {
    throw new Wrong('"result.keep" is not a list of JSON Pointers, as in "/items/*/name".');
  }
  return pointers as readonly string[];
}

function readLimit(name: string, given: Json | undefined, { functions }: ParseViewOptions): ArgumentLimit {
  const where = `the argument "${name}"`;
  const value = object(given, where);
  known(value, VIEW_ARGUMENT_KEYS, where);
  const away = AWAY.filter((key) => value[key] !== undefined);
  if (away.length > 0) {
    if (Object.keys(value).length > 1) throw new Wrong(`${where} is taken away by "${away[0]}", so nothing else fits.`);
    if (value.remove !== undefined) return flag(value.remove, where) ? { remove: true } : wrong(`${where} is odd.`);
    return { fixed: value.from === undefined ? { value: value.fixed as Json } : { from: pointer(value.from, where) } };
  }
  const isFunction = (what: unknown): boolean => functions === true && typeof what === 'function';
  const { values, choices, as: offered } = value;
  if (offered !== undefined && text(offered, where).trim() === '') throw new Wrong(`"as" of ${where} is empty.`);
  const hosts = value.hosts === undefined ? undefined : readHosts(value.hosts, where);
  const schemes = value.schemes === undefined ? undefined : texts(value.schemes, `"schemes" of ${where}`);
  if (schemes && (!hosts || schemes.length === 0 || schemes.some((each) => !ADDRESS_SCHEMES.includes(each)))) {
    throw new Wrong(`"schemes" of ${where} takes "http" and "https", beside "hosts".`);
  }
  if (hosts && value.inside !== undefined) throw new Wrong(`${where} is an address or a path: "hosts" or "inside".`);
  const checks = ['enum', 'values', 'hosts', 'inside', ...NUMBERS].filter((key) => value[key] !== undefined);
  if (choices !== undefined && checks.length > 0) {
    throw new Wrong(`${where} has "choices", which say already what may be sent; "${checks[0]}" doesn't fit.`);
  }
  return {
    ...(offered !== undefined && { as: text(offered, where) }),
    ...(value.description !== undefined && { description: text(value.description, where) }),
    ...(value.default !== undefined && { default: { value: value.default } }),
    ...(value.optional !== undefined && flag(value.optional, where) && { optional: true as const }),
    ...(value.enum !== undefined && { enum: filled(value.enum, `"enum" of ${where}`) }),
    ...(values !== undefined && {
      values: (isFunction(values) ? values : readValues(values, where)) as NonNullable<ArgumentLimit['values']>,
    }),
    ...(choices !== undefined && { choices: readChoices(choices, where, isFunction(choices)) }),
    ...(hosts && { hosts }),
    ...(schemes && { schemes }),
    ...(value.inside !== undefined && { inside: texts(value.inside, `"inside" of ${where}`, true) }),
    ...Object.fromEntries(NUMBERS.flatMap((key) => (value[key] === undefined ? [] : [[key, number(value[key], key)]]))),
  };
}

function readHosts(value: Json, where: string): readonly AllowedHost[] {
  return texts(value, `"hosts" of ${where}`, true).map(
    (each) => readHost(each) ?? wrong(`"hosts" of ${where} has "${each}", which is no host.`),
  );
}

function readValues(value: Json, where: string): readonly Json[] | { readonly from: string } {
  if (!isJsonObject(value)) return list(value, `"values" of ${where}`);
  known(value, ['from'], `"values" of ${where}`);
  return { from: pointer(value.from, where) };
}

function readChoices(value: Json, where: string, isFunction: boolean): NonNullable<ArgumentLimit['choices']> {
  if (isFunction) {
    const made = value as unknown as (who: unknown) => unknown;
    return async (who) => {
      const found = await made(who);
      if (!isJsonObject(found)) throw new Error('the function gave no object from names to values');
      return new Map(Object.entries(found)) as ReadonlyMap<string, Json>;
    };
  }
  return new Map(Object.entries(object(value, `"choices" of ${where}`))) as ReadonlyMap<string, Json>;
}

function known(value: JsonObject, keys: readonly string[], where: string): void {
  const odd = Object.keys(value).find((key) => !keys.includes(key));
  if (odd !== undefined) throw new Wrong(`${where} has "${odd}", which is not known.`);
}

function object(value: unknown, where: string): JsonObject {
  return isJsonObject(value) ? value : wrong(`${where} is no object.`);
}

function list(value: unknown, where: string): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : wrong(`${where} is no list.`);
}

function filled(value: unknown, where: string): readonly Json[] {
  const found = list(value, where);
  return found.length > 0 ? found : wrong(`${where} is empty.`);
}

function texts(value: unknown, where: string, isFilled = false): readonly string[] {
  const found = isFilled ? filled(value, where) : list(value, where);
  return found.every((each) => typeof each === 'string' && each !== '')
    ? (found as readonly string[])
    : wrong(`${where} is no list of texts.`);
}

function text(value: unknown, where: string): string {
  return typeof value === 'string' ? value : wrong(`${where} is no text.`);
}

function flag(value: unknown, where: string): boolean {
  return typeof value === 'boolean' ? value : wrong(`${where} is neither true nor false.`);
}

function number(value: unknown, where: string): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : wrong(`"${where}" is no number.`);
}

function pointer(value: unknown, where: string): string {
  return typeof value === 'string' && value.startsWith('/') && isPointer(value)
    ? value
    : wrong(`"from" of ${where} is no JSON Pointer into the caller's identity, as in "/user".`);
}

function wrong(what: string): never {
  throw new Wrong(what);
}

/** Functions count as there, not by what they do. */
function asJson(value: JsonObject): Json {
  return JSON.parse(JSON.stringify(value, (_, each: unknown) => (typeof each === 'function' ? 'function' : each)));
}
