import type { Json } from '../contracts/index.ts';

/** A text as values are looked for in it. */
export interface SourceText {
  /** Normalised: compatibility forms and case are one, white space is one space. */
  readonly words: string;
  /** The decimal numbers in it, each in one form. */
  readonly numbers: ReadonlySet<string>;
}

const MOST_NUMBERS = 100_000;
/** Of text in a result that is JSON itself, the strings are looked into as well, up to this length. */
const MOST_INNER = 1_000_000;
const MOST_DEPTH = 2;

/**
 * All strings, keys and numbers of some values as one text.
 *
 * @param most characters that are taken; `whole` is false when there were more
 */
export function sourceText(
  values: readonly Json[],
  most: number,
): { readonly text: SourceText; readonly whole: boolean } {
  const parts: string[] = [];
  let length = 0;
  let whole = true;
  const add = (part: string) => {
    if (length + part.length > most) whole = false;
    else {
      parts.push(part);
      length += part.length;
    }
  };
  const open: { readonly value: Json; readonly depth: number }[] = values.map((value) => ({ value, depth: 0 }));
  for (let next = open.pop(); next && whole; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value === 'string') {
      add(value);
      const inner = depth < MOST_DEPTH && value.length < MOST_INNER ? innerJson(value) : undefined;
      if (inner !== undefined) open.push({ value: inner, depth: depth + 1 });
    } else if (typeof value === 'number') add(String(value));
    else if (Array.isArray(value)) for (const each of value) open.push({ value: each, depth });
    else if (value !== null && typeof value === 'object') {
      for (const [key, each] of Object.entries(value)) {
        add(key);
        open.push({ value: each, depth });
      }
    }
  }
  const text = parts.join('\n');
  const numbers = numbersIn(text);
  return { text: { words: normal(text), numbers }, whole: whole && numbers.size <= MOST_NUMBERS };
}

function innerJson(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** A value as it is looked for, in however many texts. */
export interface Sought {
  readonly words: string;
  readonly number: string | undefined;
}

/** @returns `undefined` for true, false, null and empty text: they say too little to have come from anywhere */
export function sought(value: string | number | boolean | null): Sought | undefined {
  if (typeof value === 'number') {
    const number = decimal(String(value));
    return number === undefined ? undefined : { words: '', number };
  }
  if (typeof value !== 'string') return undefined;
  const words = normal(value);
  const number = decimal(value.trim());
  return words === '' && number === undefined ? undefined : { words, number };
}

/** Whether what is looked for stands in a text as one or more whole words, or as a number: `1250` also in `1,250.00`. */
export function textHolds(text: SourceText, { words, number }: Sought): boolean {
  return (number !== undefined && text.numbers.has(number)) || holdsWords(text.words, words);
}

function holdsWords(text: string, words: string): boolean {
  if (words === '') return false;
  const begins = isWordCharacter(words.at(0));
  const ends = isWordCharacter(words.at(-1));
  for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
    const isStart = !begins || !isWordCharacter(text[at - 1]);
    if (isStart && (!ends || !isWordCharacter(text[at + words.length]))) return true;
  }
  return false;
}

function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character);
}

function normal(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** The number in one form, or `undefined` when the text is no plain decimal. */
function decimal(text: string): string | undefined {
  const parts = /^([+-]?)0*([0-9]{1,40})(?:\.([0-9]{1,40}))?$/.exec(text);
  if (!parts) return undefined;
  const fraction = (parts[3] ?? '').replace(/0+$/, '');
  const size = `${parts[2]}${fraction === '' ? '' : `.${fraction}`}`;
  return parts[1] === '-' && size !== '0' ? `-${size}` : size;
}

function numbersIn(text: string): ReadonlySet<string> {
  const numbers = new Set<string>();
  for (const [found] of text.matchAll(/-?[0-9]{1,40}(?:,[0-9]{3}){0,12}(?:\.[0-9]{1,40})?/g)) {
    const number = decimal(found.replaceAll(',', ''));
    if (number === undefined) continue;
    // The sign may be a dash between two words.
    numbers.add(number);
    numbers.add(number.replace('-', ''));
    if (numbers.size > MOST_NUMBERS) break;
  }
  return numbers;
}
