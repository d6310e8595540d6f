import { expect, test } from 'vitest';
import { addUsage, NO_USAGE } from './usage.ts';

test('input counts what was read from and written to the cache', () => {
  const usage = { input_tokens: 1, cache_creation_input_tokens: 20, cache_read_input_tokens: 300, output_tokens: 4 };
  expect(addUsage(NO_USAGE, usage, () => 0.5)).toEqual({ inputTokens: 321, outputTokens: 4, costUsd: 0.5 });
});

test('summing up counts, which stands in iterations alone', () => {
  const message = { type: 'message', input_tokens: 7, output_tokens: 2 };
  const compaction = { type: 'compaction', input_tokens: 100, cache_read_input_tokens: 50, output_tokens: 30 };
  const usage = { input_tokens: 7, output_tokens: 2, iterations: [compaction, message] };
  expect(addUsage(NO_USAGE, usage, () => 0)).toEqual({ inputTokens: 157, outputTokens: 32, costUsd: 0 });
  expect(addUsage(NO_USAGE, { input_tokens: 7, iterations: 'many' }, () => 0).inputTokens).toBe(7);
});

test('one reply without a price makes the cost of the run unknown', () => {
  const unknown = addUsage(NO_USAGE, { input_tokens: 1 }, () => undefined);
  expect(unknown).toEqual({ inputTokens: 1, outputTokens: 0 });
  expect(addUsage(unknown, {}, () => 1)).not.toHaveProperty('costUsd');
});

test('a usage that makes no sense counts as nothing', () => {
  const usage = { input_tokens: 'many', output_tokens: -5 };
  expect(addUsage(NO_USAGE, usage, () => 0)).toEqual(NO_USAGE);
  expect(addUsage(NO_USAGE, null, () => 0)).toEqual(NO_USAGE);
});
