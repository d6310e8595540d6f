import type { Condition } from './condition.ts';
import { isDecimal } from './decimal.ts';
import { readTimeWindow, TIME_KEYS } from './time-window.ts';
import { ORDERS, type Order, type Scalar, type ValueTest } from './value-test.ts';

/** How much one rule may hold: conditions within conditions, conditions and tests in all, entries of a list. */
const CONDITION_LIMITS = { depth: 16, parts: 200, list: 1_000, characters: 4_000 } as const;

const ORIGIN = /^(user|context|result|nowhere|result:.+)$/;
const POINTER = /^(\/([^~]|~[01])*)?$/;
const OPERATORS = ['eq', 'in', ...ORDERS, 'matches', 'startsWith', 'inside', 'exists', 'not'];
const KEYS = ['all', 'any', 'not', 'agent', 'user', 'via', 'scope', 'label', 'time'];

/** What is wrong with a condition, in words that go on from "has a condition that …". */
class Unreadable extends Error {}

interface Reading {
  parts: number;
  readonly patterns: Set<string>;
}

/**
 * Reads `when` of a rule.
 *
 * @returns the condition and its patterns, or what is wrong in words that go on from "has a condition that"
 */
export function parseCondition(
  written: unknown,
): { readonly condition: Condition; readonly patterns: readonly string[] } | { readonly problem: string } {
  const reading: Reading = { parts: 0, patterns: new Set() };
  try {
    const condition = readCondition(written, reading, 1);
    return { condition, patterns: [...reading.patterns] };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
}

function readCondition(written: unknown, reading: Reading, depth: number): Condition {
  count(reading, depth);
  const entries = entriesOf(written, 'is no object');
  if (entries.length === 0) throw new Unreadable('is empty');
  const parts = entries.map(([key, value]) => readPart(key, value, reading, depth));
  const [first] = parts;
  return parts.length === 1 && first ? first : { is: 'all', of: parts };
}

function readPart(key: string, value: unknown, reading: Reading, depth: number): Condition {
  count(reading, depth);
  const colon = key.indexOf(':');
  if (colon > 0) return readPointed(key.slice(0, colon), key.slice(colon + 1), value, reading, depth);
  switch (key) {
    case 'all':
    case 'any':
      if (!Array.isArray(value) || value.length === 0) throw new Unreadable(`has "${key}" without a list`);
      return { is: key, of: value.map((each) => readCondition(each, reading, depth + 1)) };
    case 'not':
      return { is: 'not', of: readCondition(value, reading, depth + 1) };
    case 'agent':
    case 'user':
    case 'via':
      return { is: 'who', field: key, test: readTest(value, reading, depth + 1) };
    case 'scope':
    case 'label':
      return { is: key, among: textsOf(value, key) };
    case 'time': {
      const entries = entriesOf(value, 'has a "time" that is no object');
      const odd = entries.find(([name]) => !(TIME_KEYS as readonly string[]).includes(name));
      if (odd) throw new Unreadable(`has "${odd[0]}" in "time"; it takes ${TIME_KEYS.join(', ')}`);
      const window = readTimeWindow(new Map(entries));
      if (typeof window === 'string') throw new Unreadable(`has a time that can't be read: ${window}`);
      return { is: 'time', window };
    }
    default:
      throw new Unreadable(`looks at "${key}"; it can look at args:/…, facts:/…, origin:/…, ${KEYS.join(', ')}`);
  }
}

function readPointed(from: string, pointer: string, value: unknown, reading: Reading, depth: number): Condition {
  if (!POINTER.test(pointer)) {
    throw new Unreadable(`has "${pointer}" where a JSON Pointer such as /amount is expected`);
  }
  if (from === 'args' || from === 'facts') {
    return { is: 'value', from, pointer, test: readTest(value, reading, depth + 1) };
  }
  if (from !== 'origin') throw new Unreadable(`looks at "${from}:"; it can look at args:, facts: and origin:`);
  const among = textsOf(value, `origin:${pointer}`);
  const odd = among.find((name) => !ORIGIN.test(name));
  if (odd === undefined) return { is: 'origin', pointer, among };
  throw new Unreadable(`has the origin "${odd}"; it is user, context, result, result:SERVER or nowhere`);
}

/** A plain value is to be equal, a list holds the values that it may be, an object holds operators. */
function readTest(written: unknown, reading: Reading, depth: number): ValueTest {
  count(reading, depth);
  if (isScalar(written)) return { test: 'eq', value: scalar(written) };
  if (Array.isArray(written)) return { test: 'in', values: scalars(written) };
  const entries = entriesOf(written, 'compares with nothing');
  if (entries.length === 0) throw new Unreadable('compares with an empty object');
  const tests = entries.map(([operator, operand]) => readOperator(operator, operand, reading, depth));
  const [first] = tests;
  return tests.length === 1 && first ? first : { test: 'all', of: tests };
}

function readOperator(operator: string, operand: unknown, reading: Reading, depth: number): ValueTest {
  count(reading, depth);
  switch (operator) {
    case 'eq':
      if (!isScalar(operand)) throw new Unreadable('has an "eq" that is no text, number, boolean or null');
      return { test: 'eq', value: scalar(operand) };
    case 'in':
      if (!Array.isArray(operand)) throw new Unreadable('has an "in" that is no list');
      return { test: 'in', values: scalars(operand) };
    case '<':
    case '<=':
    case '>':
    case '>=':
      return { test: 'order', order: operator satisfies Order, than: bound(operator, operand) };
    case 'matches':
      reading.patterns.add(text(operator, operand));
      return { test: 'matches', pattern: text(operator, operand) };
    case 'startsWith':
      return { test: 'startsWith', prefix: text(operator, operand) };
    case 'inside':
      return { test: 'inside', folders: textsOf(operand, operator) };
    case 'exists':
      if (typeof operand !== 'boolean') throw new Unreadable('has an "exists" that is neither true nor false');
      return { test: 'exists', expected: operand };
    case 'not':
      return { test: 'not', of: readTest(operand, reading, depth + 1) };
    default:
      throw new Unreadable(`has "${operator}"; values are compared by ${OPERATORS.join(', ')}`);
  }
}

function bound(operator: string, operand: unknown): number | string {
  if (typeof operand === 'number' && Number.isFinite(operand)) return operand;
  if (typeof operand === 'string' && isDecimal(operand)) return operand;
  throw new Unreadable(`has a "${operator}" that is neither a number nor a decimal as text, such as "12.50"`);
}

function count(reading: Reading, depth: number): void {
  reading.parts += 1;
  if (depth > CONDITION_LIMITS.depth) throw new Unreadable(`is nested more than ${CONDITION_LIMITS.depth} levels deep`);
  if (reading.parts > CONDITION_LIMITS.parts) throw new Unreadable(`has more than ${CONDITION_LIMITS.parts} parts`);
}

function entriesOf(value: unknown, problem: string): readonly [string, unknown][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Unreadable(problem);
  return Object.entries(value);
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function scalar(value: Scalar): Scalar {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Unreadable('has a number that is too large');
  return typeof value === 'string' ? text('eq', value, 0) : value;
}

function scalars(values: readonly unknown[]): readonly Scalar[] {
  if (values.length === 0) throw new Unreadable('has an empty list');
  if (values.length > CONDITION_LIMITS.list) throw new Unreadable(`has a list of more than ${CONDITION_LIMITS.list}`);
  return values.map((value) => {
    if (!isScalar(value)) throw new Unreadable('has a list in which not everything is text, number, boolean or null');
    return scalar(value);
  });
}

function text(operator: string, value: unknown, least = 1): string {
  if (typeof value !== 'string' || value.length < least) throw new Unreadable(`has a "${operator}" that is no text`);
  if (value.length > CONDITION_LIMITS.characters) {
    throw new Unreadable(`has a text of more than ${CONDITION_LIMITS.characters} characters`);
  }
  return value;
}

function textsOf(value: unknown, name: string): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  if (list.length === 0 || list.length > CONDITION_LIMITS.list) {
    throw new Unreadable(`has a "${name}" with no text or more than ${CONDITION_LIMITS.list}`);
  }
  return list.map((each) => text(name, each));
}
