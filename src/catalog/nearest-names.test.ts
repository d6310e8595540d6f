import { expect, test } from 'vitest';
import { nearestNames } from './nearest-names.ts';

const NAMES = ['mcp__shop__get_order', 'mcp__shop__get_orders', 'mcp__fs__read_file', 'greet'];

test.each([
  ['get_order', ['mcp__shop__get_order', 'mcp__shop__get_orders']],
  ['mcp__fs__reed_file', ['mcp__fs__read_file']],
  ['GREET', ['greet']],
  ['weather', []],
  ['', []],
])('the names nearest to %j are %j', (name, nearest) => {
  expect(nearestNames(name, NAMES)).toEqual(nearest);
});

test('a name of a megabyte costs no more than a long one', () => {
  expect(nearestNames('x'.repeat(1_000_000), NAMES)).toEqual([]);
});
