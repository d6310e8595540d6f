import type { Json, JsonObject } from '../../contracts/index.ts';
import { splitWords } from '../../search/index.ts';
import { isObject } from './conversation.ts';

/** Minor units to a major one, where it isn't 100 (ISO 4217). */
const MINOR_UNITS: ReadonlyMap<string, number> = new Map([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'
    .split(' ')
    .map((code): [string, number] => [code, 0]),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code): [string, number] => [code, 3]),
]);
const SIGNS: ReadonlyMap<string, string> = new Map([
  ['USD', '$'],
  ['EUR', '€'],
  ['GBP', '£'],
  ['JPY', '¥'],
]);
const MINOR = /_?(?:cents|minor(?:_?units?)?)$/i;
const MAX_ROWS = 50;

/** A sum of money as people write it. */
export function money(value: number, currency: string, minor: boolean): string {
  const code = currency.toUpperCase();
  const digits = MINOR_UNITS.get(code) ?? 2;
  const amount = (minor ? value / 10 ** digits : value).toFixed(digits);
  const sign = SIGNS.get(code);
  return sign === undefined
    ? `${amount} ${code}`
    : amount.startsWith('-')
      ? `-${sign}${amount.slice(1)}`
      : `${sign}${amount}`;
}

export interface Line {
  readonly key: string;
  /** The key in words. */
  readonly label: string;
  readonly text: string;
  readonly isMoney: boolean;
}

/** The fields of an object, an amount and its currency as one. Nested objects follow with their key before theirs. */
export function linesOf(object: JsonObject, prefix = ''): Line[] {
  const currency = Object.entries(object).find(
    ([key, value]) => /^currency(?:_?code)?$/i.test(key) && typeof value === 'string' && /^[A-Za-z]{3}$/.test(value),
  );
  const isSum = ([key, value]: [string, Json]) =>
    typeof value === 'number' && (MINOR.test(key) || /(?:^|_)(?:amount|total|price|cost|sum|value)$/i.test(key));
  const hasSum = currency !== undefined && Object.entries(object).some(isSum);
  return Object.entries(object).flatMap(([key, value]): Line[] => {
    if (value === null || (hasSum && key === currency?.[0])) return [];
    const label = `${prefix}${splitWords(key).join(' ')}`;
    if (isObject(value)) return linesOf(value, `${label} `);
    if (hasSum && typeof value === 'number' && isSum([key, value])) {
      const named = label.replace(/ ?(?:cents|minor(?: units?)?)$/, '') || 'amount';
      return [{ key, label: named, text: money(value, String(currency?.[1]), MINOR.test(key)), isMoney: true }];
    }
    return [{ key, label, text: inWords(value), isMoney: false }];
  });
}

/** One value in a line of text. */
export function inWords(value: Json): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(inWords).join(', ');
  if (isObject(value)) {
    return linesOf(value)
      .map(({ label, text }) => `${label} ${text}`)
      .join(', ');
  }
  return value === null ? 'none' : String(value);
}

/** A whole document for a person: a line for each thing in a list, a line for each field of an object. */
export function documentText(document: Json): string {
  if (Array.isArray(document)) {
    const rows = document.slice(0, MAX_ROWS).map((row) => `- ${inWords(row)}`);
    if (document.length > MAX_ROWS) rows.push(`- and ${document.length - MAX_ROWS} more`);
    return rows.join('\n');
  }
  if (!isObject(document)) return inWords(document);
  const parts: string[] = [];
  const plain: JsonObject = {};
  for (const [key, value] of Object.entries(document)) {
    const isTable = Array.isArray(value) && value.some((row) => typeof row === 'object');
    if (Array.isArray(value) && value.length === 0) continue;
    if (isTable) parts.push(`${capital(splitWords(key).join(' '))}:\n${documentText(value)}`);
    else Object.defineProperty(plain, key, { value, enumerable: true });
  }
  const lines = linesOf(plain).map(({ label, text }) => `${capital(label)}: ${text}`);
  return [...(lines.length > 0 ? [lines.join('\n')] : []), ...parts].join('\n');
}

/** True for a document that holds nothing: no fields, or only empty lists. */
export function isEmptyDocument(document: Json): boolean {
  if (Array.isArray(document)) return document.length === 0;
  return isObject(document) && Object.values(document).every((value) => Array.isArray(value) && value.length === 0);
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
