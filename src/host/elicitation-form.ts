/**
 * Rule of this file: a form is pure. It reads what a server asks for (MCP 2025-11-25 and 2026-07-28, Elicitation, form
 * mode) into fields, and a typed line into a value or into what is wrong with it; it shows nothing and waits for nobody.
 */
import type { Json, JsonObject } from '../contracts/index.ts';
import { formatProblem } from './elicitation-format.ts';

/** What a field may hold, as the protocol allows it. */
export type FieldValue = string | number | boolean | string[];

export interface FieldOption {
  readonly value: string;
  /** What a person reads; the value itself where the server gives no title. */
  readonly label: string;
}

export interface FormField {
  /** The property's name in the answer. */
  readonly key: string;
  readonly title: string;
  readonly description?: string;
  readonly required: boolean;
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'one' | 'many';
  /** For `one` and `many`. */
  readonly options: readonly FieldOption[];
  readonly default?: FieldValue;
  readonly schema: JsonObject;
}

export interface Form {
  readonly fields: readonly FormField[];
  /** Fields that can't be shown, and are left out because they are optional. */
  readonly leftOut: readonly string[];
}

/** More isn't something that a person fills in in the middle of a call. */
const MOST_FIELDS = 50;
const MOST_OPTIONS = 200;

/**
 * Reads a `requestedSchema`.
 *
 * @returns the form, or why it can't be answered
 */
export function readForm(schema: Json | undefined): Form | { readonly problem: string } {
  if (!isObject(schema) || (schema.type !== undefined && schema.type !== 'object')) {
    return { problem: 'its schema is no object schema' };
  }
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length > MOST_FIELDS) return { problem: `it asks for ${properties.length} fields at once` };
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields: FormField[] = [];
  const leftOut: string[] = [];
  for (const [key, property] of properties) {
    const field = readField(key, property, required.has(key));
    if (field) fields.push(field);
    else if (required.has(key)) return { problem: `its required field "${key}" is none that a form has` };
    else leftOut.push(key);
  }
  const missing = [...required].find((key) => !fields.some((field) => field.key === key));
  if (missing !== undefined)
    return { problem: `it requires a field ${JSON.stringify(missing)} and doesn't describe it` };
  return { fields, leftOut };
}

function readField(key: string, schema: Json, required: boolean): FormField | undefined {
  if (!isObject(schema)) return undefined;
  const shape = readKind(schema);
  if (!shape) return undefined;
  const field: FormField = {
    key,
    title: typeof schema.title === 'string' && schema.title.trim() !== '' ? schema.title : key,
    required,
    schema,
    ...shape,
    ...(typeof schema.description === 'string' && { description: schema.description }),
  };
  // A default that the field itself wouldn't take is none.
  const given = asValue(schema.default);
  return given === undefined || checkValue(field, given) !== null ? field : { ...field, default: given };
}

function readKind(schema: JsonObject): Pick<FormField, 'kind' | 'options'> | undefined {
  switch (schema.type) {
    case 'number':
    case 'integer':
    case 'boolean':
      return { kind: schema.type, options: [] };
    case 'array': {
      const options = isObject(schema.items) ? readOptions(schema.items) : undefined;
      return options && { kind: 'many', options };
    }
    case 'string':
    case undefined: {
      const options = readOptions(schema);
      if (options) return { kind: 'one', options };
      const isEnum = schema.enum !== undefined || schema.oneOf !== undefined;
      return isEnum || schema.type === undefined ? undefined : { kind: 'text', options: [] };
    }
    default:
      return undefined;
  }
}

/** `enum`, with `enumNames` of older servers; or `oneOf` and `anyOf` of constants with titles. */
function readOptions(schema: JsonObject): readonly FieldOption[] | undefined {
  const { enum: values, enumNames: names } = schema;
  if (Array.isArray(values)) {
    const labels = Array.isArray(names) ? names : [];
    return options(values.map((value, at) => ({ value, label: labels[at] })));
  }
  const titled = Array.isArray(schema.oneOf) ? schema.oneOf : schema.anyOf;
  if (!Array.isArray(titled)) return undefined;
  return options(titled.map((each) => (isObject(each) ? { value: each.const, label: each.title } : {})));
}

function options(given: readonly { value?: Json | undefined; label?: Json | undefined }[]) {
  const read = given.flatMap(({ value, label }) =>
    typeof value === 'string' ? [{ value, label: typeof label === 'string' && label !== '' ? label : value }] : [],
  );
  return read.length === given.length && read.length > 0 && read.length <= MOST_OPTIONS ? read : undefined;
}

/**
 * Reads what a person typed for a field.
 *
 * @param line trimmed already, and not empty; `""` is the empty text
 */
export function readAnswer(
  field: FormField,
  line: string,
): { readonly value: FieldValue } | { readonly problem: string } {
  const value = parse(field, line);
  if (typeof value === 'object' && 'problem' in value) return value;
  const problem = checkValue(field, value);
  return problem === null ? { value } : { problem };
}

function parse(field: FormField, line: string): FieldValue | { readonly problem: string } {
  switch (field.kind) {
    case 'text':
      return line === '""' ? '' : line;
    case 'number':
    case 'integer':
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(line) ? Number(line) : { problem: 'It has to be a number.' };
    case 'boolean':
      if (/^(y|yes|true)$/i.test(line)) return true;
      return /^(n|no|false)$/i.test(line) ? false : { problem: 'It has to be y or n.' };
    case 'one':
      return chosen(field, line) ?? { problem: 'Give the number of one of them.' };
    case 'many': {
      const words = line.split(/[\s,]+/).filter((word) => word !== '');
      const whole = chosen(field, line);
      const values = whole === undefined ? words.map((word) => chosen(field, word)) : [whole];
      const known = values.filter((value) => value !== undefined);
      if (known.length < values.length) return { problem: 'Give the numbers of some of them, e.g. 1 3.' };
      return [...new Set(known)];
    }
  }
}

/** By number, value or label, in that order; a label that two options share names none. */
function chosen({ options: all }: FormField, word: string): string | undefined {
  const byNumber = /^\d+$/.test(word) ? all[Number(word) - 1] : undefined;
  if (byNumber) return byNumber.value;
  const byValue = all.find(({ value }) => value === word);
  if (byValue) return byValue.value;
  const labelled = all.filter(({ label }) => label.toLowerCase() === word.toLowerCase());
  return labelled.length === 1 ? labelled[0]?.value : undefined;
}

/** What is wrong with a value; null when it fits. */
function checkValue(field: FormField, value: FieldValue): string | null {
  const { kind, schema, options: all } = field;
  const limit = (name: string) => (typeof schema[name] === 'number' ? schema[name] : undefined);
  switch (kind) {
    case 'text': {
      if (typeof value !== 'string') return 'It has to be a text.';
      const { length } = [...value];
      const range = outside(length, limit('minLength'), limit('maxLength'));
      if (range) return `It has to have ${range} characters, not ${length}.`;
      return typeof schema.format === 'string' ? formatProblem(schema.format, value) : null;
    }
    case 'number':
    case 'integer': {
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'It has to be a number.';
      if (kind === 'integer' && !Number.isSafeInteger(value)) return 'It has to be a whole number.';
      const range = outside(value, limit('minimum'), limit('maximum'));
      return range ? `It has to be ${range}.` : null;
    }
    case 'boolean':
      return typeof value === 'boolean' ? null : 'It has to be y or n.';
    case 'one':
      return all.some((option) => option.value === value) ? null : 'It has to be one of them.';
    case 'many': {
      if (!Array.isArray(value) || value.some((each) => !all.some((option) => option.value === each))) {
        return 'It has to be some of them.';
      }
      const range = outside(value.length, limit('minItems'), limit('maxItems'));
      return range ? `Choose ${range}, not ${value.length}.` : null;
    }
  }
}

function outside(value: number, least: number | undefined, most: number | undefined): string | null {
  if ((least === undefined || value >= least) && (most === undefined || value <= most)) return null;
  if (least !== undefined && most !== undefined) return least === most ? `${least}` : `${least} to ${most}`;
  return least === undefined ? `at most ${most}` : `at least ${least}`;
}

/** What a field takes, in words: `whole number, 1 to 5`. */
export function fieldHint({ kind, schema, required }: FormField): string {
  const number = (name: string) => (typeof schema[name] === 'number' ? schema[name] : undefined);
  const range = (least: string, most: string) => {
    const [from, to] = [number(least), number(most)];
    if (from !== undefined && to !== undefined) return `, ${from} to ${to}`;
    return from !== undefined ? `, at least ${from}` : to !== undefined ? `, at most ${to}` : '';
  };
  const words = {
    text: () => `${typeof schema.format === 'string' ? schema.format : 'text'}${range('minLength', 'maxLength')}`,
    number: () => `number${range('minimum', 'maximum')}`,
    integer: () => `whole number${range('minimum', 'maximum')}`,
    boolean: () => 'y or n',
    one: () => 'a number',
    many: () => `numbers${range('minItems', 'maxItems')}`,
  }[kind]();
  return `${words}${required ? '' : ', optional'}`;
}

/** A value as a person reads it in a review. */
export function shownValue({ kind, options: all }: FormField, value: FieldValue): string {
  const label = (each: string) => all.find((option) => option.value === each)?.label ?? each;
  if (Array.isArray(value)) return value.length === 0 ? '(none)' : value.map(label).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value === '') return '""';
  return kind === 'one' ? label(String(value)) : String(value);
}

function asValue(given: Json | undefined): FieldValue | undefined {
  if (typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean') return given;
  if (!Array.isArray(given)) return undefined;
  const texts = given.filter((each) => typeof each === 'string');
  return texts.length === given.length ? texts : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const SECRET =
  /passw(or)?d|passphrase|passcode|secret|credential|token|(api|access|private|ssh|recovery|seed)[-_ ]?(key|phrase)|\b(pin|cvv|cvc|otp)\b|credit.?card|card.?number/i;

/** Whether a field's words ask for what a server may not ask for in a form. A guess: it knows the usual words only. */
export function asksForSecret({ key, title, description = '' }: FormField): boolean {
  return SECRET.test(`${key} ${title} ${description}`.normalize('NFKC').replace(/\p{Cf}/gu, ''));
}
