import type { Json, JsonObject } from '../../contracts/index.ts';
import { splitWords, stem } from '../../search/index.ts';
import { isObject, list } from './conversation.ts';
import { exampleOf, type FieldSort, sortOf } from './field-sort.ts';
import { DISCOURAGED, GENERIC_FIELD_WORDS, isPlainVerb, isVerb, TWO_SIDED, verbEffects } from './lexicon.ts';

/** One value that a tool takes, however deep it lies in its schema. */
export interface Field {
  /** Steps from the input object; `0` stands for the one element of an array of objects. */
  readonly path: readonly (string | 0)[];
  readonly name: string;
  /** Stems of the name's words. */
  readonly words: readonly string[];
  /** The words that say of which thing it is; the tool's own nouns when the name says only `id`. */
  readonly entity: readonly string[];
  readonly description: string;
  /** Stems of the description's words. */
  readonly descriptionWords: ReadonlySet<string>;
  readonly sort: FieldSort;
  /** A value that the schema or the description gives as an example. */
  readonly example: string | undefined;
  /** Schema of one value: of the elements, when `many`. */
  readonly schema: JsonObject;
  readonly many: boolean;
  readonly required: boolean;
}

/** What the planner knows of a tool: only what a model is shown. */
export interface ToolCard {
  readonly name: string;
  readonly server: string;
  readonly description: string;
  /** The verb of the name or, failing that, of the description. */
  readonly verbs: readonly string[];
  /** Stems of the other words of the name. */
  readonly nouns: readonly string[];
  readonly fields: readonly Field[];
  readonly descriptionWords: ReadonlySet<string>;
  readonly fieldWords: ReadonlySet<string>;
  /** `read` when name and description say that it only looks; `write` when they name a deed, known or not. */
  readonly effect: 'read' | 'write' | 'unclear';
  readonly discouraged: boolean;
}

const MAX_DEPTH = 5;

export function readCards(tools: Json | undefined): ToolCard[] {
  return list(tools).flatMap((tool) =>
    isObject(tool) && typeof tool.name === 'string' && isObject(tool.input_schema) ? [card(tool.name, tool)] : [],
  );
}

function card(name: string, tool: JsonObject): ToolCard {
  const description = typeof tool.description === 'string' ? tool.description : '';
  const [, server = '', local = name] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? [];
  const words = splitWords(local);
  const opening = splitWords(description.split(/[.!?\n]/, 1)[0] ?? '');
  const named = words.filter((word) => isVerb(word));
  const first = words[0] ?? '';
  // A name such as `refund_payment` begins with a verb that no list has.
  const isVerbal = words.length > 1 || stem(first) === stem(opening[0] ?? '');
  const verbs = named[0] === first || !isVerbal ? [...named] : [first, ...named];
  if (opening[0] !== undefined && !verbs.includes(opening[0])) verbs.push(opening[0]);
  const nouns = words.filter((word, at) => !(at === 0 && isVerb(word))).map(stem);
  const schema = tool.input_schema as JsonObject;
  const fields = fieldsOf(schema, schema, [], true, nouns, 0);
  return {
    name,
    server,
    description,
    verbs,
    nouns,
    fields,
    descriptionWords: new Set(splitWords(description).map(stem)),
    fieldWords: new Set(fields.flatMap((field) => [...field.words, ...field.descriptionWords])),
    effect: effectOf(words, opening, fields),
    discouraged: DISCOURAGED.test(description),
  };
}

const DETERMINERS: ReadonlySet<string> = new Set(
  'a an the all one your this that these any each every single'.split(' '),
);

/** What a tool does to the world, by its verbs. A verb that nobody knows may do anything. */
function effectOf(words: readonly string[], opening: readonly string[], fields: readonly Field[]): ToolCard['effect'] {
  const numeric = fields.length > 0 && fields.every((field) => /^(?:number|integer)$/.test(String(field.schema.type)));
  const [first = '', ...others] = words;
  const [lead = ''] = opening;
  const isDeed = stem(first) === stem(lead) || DETERMINERS.has(opening[1] ?? '');
  const looks = words.length > 1 && verbEffects(first).includes('read');
  const verbs = [...(looks || isPlainVerb(first) ? [first] : []), ...(isDeed || isPlainVerb(lead) ? [lead] : [])];
  const later = others.filter(isPlainVerb);
  for (const word of [...verbs, ...later]) {
    const effects = verbEffects(word);
    if (effects.length === 0 || TWO_SIDED.has(stem(word))) continue;
    if (effects.includes('pure') && (numeric || !effects.includes('write'))) return 'read';
    const alsoWrites = words.includes('and') && later.some((one) => verbEffects(one).includes('write'));
    return effects.includes('write') || alsoWrites ? 'write' : 'read';
  }
  return isDeed ? 'write' : 'unclear';
}

function fieldsOf(
  root: JsonObject,
  given: JsonObject,
  path: readonly (string | 0)[],
  required: boolean,
  nouns: readonly string[],
  depth: number,
): Field[] {
  if (depth > MAX_DEPTH || !isObject(given.properties)) return [];
  const needed = new Set(list(given.required));
  return Object.entries(given.properties).flatMap(([name, value]): Field[] => {
    const schema = plain(root, value);
    if (!schema) return [];
    const here = [...path, name];
    const must = required && needed.has(name);
    const items = schema.type === 'array' ? plain(root, schema.items) : undefined;
    if (schema.properties) return fieldsOf(root, schema, here, must, nouns, depth + 1);
    if (items?.properties) return fieldsOf(root, items, [...here, 0], must, nouns, depth + 1);
    const words = splitWords(name).map(stem);
    const own = words.filter((word) => !GENERIC_FIELD_WORDS.has(word));
    const description = [schema.description, items?.description].filter((text) => typeof text === 'string').join(' ');
    const entity = own.length > 0 ? own : nouns;
    const terms = { words, description, schema: items ?? schema };
    return [
      {
        ...terms,
        path: here,
        name,
        entity,
        descriptionWords: new Set(splitWords(description).map(stem)),
        sort: sortOf(terms),
        example: exampleOf(terms),
        many: items !== undefined,
        required: must,
      },
    ];
  });
}

/** Follows a local reference and picks the first alternative that isn't null. */
function plain(root: JsonObject, value: Json | undefined): JsonObject | undefined {
  let schema: Json | undefined = value === true ? {} : value;
  for (let step = 0; step < MAX_DEPTH && isObject(schema); step++) {
    if (typeof schema.$ref === 'string' && schema.$ref.startsWith('#/')) {
      schema = schema.$ref.slice(2).split('/').reduce<Json | undefined>(member, root);
    } else {
      const choice = [...list(schema.anyOf), ...list(schema.oneOf)].find((one) => isObject(one) && one.type !== 'null');
      if (isObject(choice) && schema.type === undefined) schema = { ...schema, anyOf: [], oneOf: [], ...choice };
      else if (Array.isArray(schema.type))
        schema = { ...schema, type: schema.type.find((type) => type !== 'null') ?? 'null' };
      else return schema;
    }
  }
  return isObject(schema) ? schema : undefined;
}

function member(value: Json | undefined, step: string): Json | undefined {
  const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
