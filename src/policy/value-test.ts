import type { Json } from '../contracts/index.ts';
import { compareDecimals, isDecimal } from './decimal.ts';
import type { PatternBook } from './patterns.ts';
import { pathInside } from './real-path.ts';
import { agreed, allOf, anyOf, notOf, type Truth, truthOf } from './truth.ts';

export type Scalar = string | number | boolean | null;
export type Order = '<' | '<=' | '>' | '>=';
export const ORDERS: readonly Order[] = ['<', '<=', '>', '>='];

/** What a rule asks of one value. */
export type ValueTest =
  | { readonly test: 'eq'; readonly value: Scalar }
  | { readonly test: 'in'; readonly values: readonly Scalar[] }
  | { readonly test: 'order'; readonly order: Order; readonly than: number | string }
  | { readonly test: 'matches'; readonly pattern: string }
  | { readonly test: 'startsWith'; readonly prefix: string }
  | { readonly test: 'inside'; readonly folders: readonly string[] }
  | { readonly test: 'exists'; readonly expected: boolean }
  | { readonly test: 'not'; readonly of: ValueTest }
  | { readonly test: 'all'; readonly of: readonly ValueTest[] };

export interface TestSurroundings {
  readonly patterns: PatternBook;
  /** Absolute: what relative paths are relative to. */
  readonly root: string;
}

/** Longest list whose elements are looked at one by one. */
const MOST_ELEMENTS = 1_000;

/**
 * Types are compared strictly: a value that is missing, or of another type than the rule compares with, gives `unknown`,
 * which an allow rule takes as no and a deny or ask rule as yes. A list is tested element by element, and only where all
 * agree the answer is certain.
 */
export function testValue(test: ValueTest, value: Json | undefined, around: TestSurroundings): Truth {
  switch (test.test) {
    case 'exists':
      return truthOf((value !== undefined) === test.expected);
    case 'not':
      return notOf(testValue(test.of, value, around));
    case 'all':
      return allOf(test.of.map((each) => testValue(each, value, around)));
    default:
      return testEach(test, value, around);
  }
}

type AtomicTest = Exclude<ValueTest, { test: 'exists' | 'not' | 'all' }>;

function testEach(test: AtomicTest, value: Json | undefined, around: TestSurroundings): Truth {
  if (!Array.isArray(value)) return testScalar(test, value, around);
  if (value.length > MOST_ELEMENTS) return 'unknown';
  // A list in a list is not looked into.
  return agreed(value.map((each) => (Array.isArray(each) ? 'unknown' : testScalar(test, each, around))));
}

function testScalar(test: AtomicTest, value: Json | undefined, around: TestSurroundings): Truth {
  if (value === undefined || (typeof value === 'object' && value !== null)) return 'unknown';
  switch (test.test) {
    case 'eq':
      return sameKind(value, test.value) ? truthOf(value === test.value) : 'unknown';
    case 'in':
      if (test.values.includes(value)) return 'yes';
      return test.values.some((each) => sameKind(each, value)) ? 'no' : 'unknown';
    case 'order':
      return ordered(compared(value, test.than), test.order);
    case 'matches':
      return typeof value === 'string' ? around.patterns.matches(test.pattern, value) : 'unknown';
    case 'startsWith':
      return typeof value === 'string' ? truthOf(value.startsWith(test.prefix)) : 'unknown';
    case 'inside':
      if (typeof value !== 'string') return 'unknown';
      return anyOf(test.folders.map((folder) => pathInside(value, folder, around.root)));
  }
}

function sameKind(a: Scalar, b: Scalar): boolean {
  return a === null || b === null ? a === b : typeof a === typeof b;
}

/** Numbers with numbers, decimals written as text with the same; NaN for anything else. */
function compared(value: Scalar, than: number | string): number {
  if (typeof value === 'number' && typeof than === 'number') {
    // An infinity stands for a number that was too large to be read.
    if (!Number.isFinite(value)) return Number.NaN;
    return value === than ? 0 : value < than ? -1 : 1;
  }
  if (typeof value !== 'string' || typeof than !== 'string' || !isDecimal(value)) return Number.NaN;
  return compareDecimals(value, than);
}

function ordered(difference: number, order: Order): Truth {
  if (Number.isNaN(difference)) return 'unknown';
  switch (order) {
    case '<':
      return truthOf(difference < 0);
    case '<=':
      return truthOf(difference <= 0);
    case '>':
      return truthOf(difference > 0);
    case '>=':
      return truthOf(difference >= 0);
  }
}
