import type { Json, JsonObject } from '../../contracts/index.ts';
import { stem } from '../../search/index.ts';
import { list } from './conversation.ts';

/** What kind of value a field wants, told by its schema first, then by its name, then by its description. */
export type FieldSort =
  | 'number'
  | 'boolean'
  | 'choice'
  | 'url'
  | 'email'
  | 'date'
  | 'path'
  | 'id'
  | 'query'
  | 'prose'
  | 'name'
  | 'text';

/** What a field says of itself. */
export interface FieldTerms {
  readonly words: readonly string[];
  readonly schema: JsonObject;
  readonly description: string;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' ').map(stem));
const PATH_WORDS = words('path paths file filename filepath dir directory folder');
const URL_WORDS = words('url uri link href website');
const ID_WORDS = words('id ids uuid guid key code number no ref reference sku');
const QUERY_WORDS = words('query q search keyword keywords term terms pattern prompt question topic');
const PROSE_WORDS = words(
  'content contents text message body note comment description observation observations data summary',
);
const NAME_WORDS = words('name names title label subject');
const EMAIL_WORDS = words('email');
const DATE_WORDS = words('date day');

export function sortOf(field: FieldTerms): FieldSort {
  const { schema } = field;
  if (Array.isArray(schema.enum) || schema.const !== undefined) return 'choice';
  if (schema.type === 'number' || schema.type === 'integer') return 'number';
  if (schema.type === 'boolean') return 'boolean';
  const format = typeof schema.format === 'string' ? schema.format : '';
  if (/^ur[il]/.test(format)) return 'url';
  if (format === 'email') return 'email';
  if (format === 'uuid') return 'id';
  if (format.startsWith('date')) return 'date';
  const has = (set: ReadonlySet<string>) => field.words.some((word) => set.has(word));
  if (has(URL_WORDS)) return 'url';
  if (has(EMAIL_WORDS)) return 'email';
  if (has(PATH_WORDS)) return 'path';
  if (has(DATE_WORDS)) return 'date';
  const last = field.words.at(-1) ?? '';
  if (ID_WORDS.has(last) || /\d/.test(exampleOf(field) ?? '')) return 'id';
  if (has(QUERY_WORDS)) return 'query';
  if (has(PROSE_WORDS)) return 'prose';
  return NAME_WORDS.has(last) ? 'name' : 'text';
}

/** A value that the schema or the description gives as an example: "The order id, e.g. O-104". */
export function exampleOf(field: FieldTerms): string | undefined {
  const given = list(field.schema.examples)[0] ?? field.schema.example;
  if (typeof given === 'string' || typeof given === 'number') return String(given);
  const said = /(?:\be\.g\.|\bfor example|\bsuch as|\bexample:)[\s,:]*["'`“]?([A-Za-z0-9#][\w./:@#-]*[\w])/i.exec(
    field.description,
  );
  return said?.[1];
}

/** The form of an id: letters kept, runs of digits as `9`. */
export function shapeOf(text: string): string {
  return text.replace(/\d+/g, '9').toUpperCase();
}

/** The form of any value: capitals as `A`, small letters as `a`, digits as `9`, each kept in number. */
export function formOf(text: string): string {
  return text
    .replace(/\p{Lu}/gu, 'A')
    .replace(/\p{Ll}/gu, 'a')
    .replace(/\d/g, '9');
}

/**
 * The value that a field takes from a text: a number from its digits, a choice from its spelling, a string as it is.
 *
 * @returns undefined when the text can't be this field's value
 */
export function convert(text: string, schema: JsonObject): Json | undefined {
  if (schema.const !== undefined) return same(text, schema.const) ? schema.const : undefined;
  if (Array.isArray(schema.enum)) return schema.enum.find((choice) => same(text, choice));
  if (schema.type === 'number' || schema.type === 'integer') return toNumber(text, schema);
  if (schema.type === 'boolean') return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : undefined;
  if (schema.type !== undefined && schema.type !== 'string') return undefined;
  const max = typeof schema.maxLength === 'number' ? schema.maxLength : Number.POSITIVE_INFINITY;
  const min = typeof schema.minLength === 'number' ? schema.minLength : 0;
  if (text.length > max || text.length < min) return undefined;
  return formed(text, String(schema.format ?? '')) && matches(text, schema.pattern) ? text : undefined;
}

function same(text: string, choice: Json): boolean {
  return choice !== null && typeof choice !== 'object' && String(choice).toLowerCase() === text.toLowerCase();
}

function toNumber(text: string, schema: JsonObject): number | undefined {
  if (!/^[-+]?\d[\d,]*(?:\.\d+)?$/.test(text)) return undefined;
  const value = Number(text.replaceAll(',', ''));
  if (schema.type === 'integer' && !Number.isInteger(value)) return undefined;
  if (typeof schema.minimum === 'number' && value < schema.minimum) return undefined;
  if (typeof schema.maximum === 'number' && value > schema.maximum) return undefined;
  return value;
}

function formed(text: string, format: string): boolean {
  if (/^ur[il]/.test(format)) return /^[a-z][a-z0-9+.-]*:/i.test(text);
  if (format === 'email') return /^[^\s@]+@[^\s@]+$/.test(text);
  if (format === 'date') return /^\d{4}-\d{2}-\d{2}$/.test(text);
  if (format === 'date-time') return /^\d{4}-\d{2}-\d{2}T/.test(text);
  return format !== 'uuid' || /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** Foreign patterns are run only where they can't take long: no groups, few repetitions, a short text. */
function matches(text: string, pattern: Json | undefined): boolean {
  if (typeof pattern !== 'string' || pattern.length > 80 || /[()|]/.test(pattern)) return true;
  if ((pattern.match(/[*+]|\{\d+,/g)?.length ?? 0) > 2 || text.length > 200) return true;
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return true;
  }
}
