import { expect, test } from 'vitest';
import { modelFacts } from './model-facts.ts';
import { costOf } from './prices.ts';

const million = 1_000_000;

test('each kind of token has its own price', () => {
  const usage = {
    input_tokens: million,
    output_tokens: million,
    cache_read_input_tokens: million,
    cache_creation_input_tokens: 2 * million,
    cache_creation: { ephemeral_5m_input_tokens: million, ephemeral_1h_input_tokens: million },
  };
  expect(costOf('claude-opus-5-5', usage)).toBeCloseTo(4 + 20 + 0.2 + 5 + 8, 9);
});

test('cache writes without a split count as 5-minute writes', () => {
  expect(costOf('claude-sonnet-5', { cache_creation_input_tokens: million })).toBeCloseTo(2.5, 9);
});

test('a long prompt moves the whole request into the higher tier, where there is one', () => {
  const usage = { input_tokens: 60_000, cache_read_input_tokens: 40_000, output_tokens: 1000 };
  expect(costOf('claude-haiku-5-5', usage)).toBeCloseTo(0.006 + 0.0004 + 0.0005, 9);
  expect(costOf('claude-haiku-5-5', { ...usage, input_tokens: 60_001 })).toBeCloseTo(0.0300005 + 0.002 + 0.0025, 9);
});

test('what was summed up is paid for beside the reply, and an advisor at its own price', () => {
  const message = { type: 'message', input_tokens: million, output_tokens: 0 };
  const compaction = { type: 'compaction', input_tokens: million, output_tokens: million };
  const usage = { input_tokens: million, iterations: [message, compaction] };
  expect(costOf('claude-opus-5-5', usage)).toBeCloseTo(4 + 4 + 20, 9);
  const advised = {
    input_tokens: million,
    iterations: [{ ...compaction, type: 'advisor_message', model: 'claude-opus-5' }],
  };
  expect(costOf('claude-haiku-4-5', advised)).toBeCloseTo(1 + 5 + 25, 9);
  const unknown = { iterations: [{ ...compaction, type: 'advisor_message', model: 'claude-opus-9' }] };
  expect(costOf('claude-haiku-4-5', unknown)).toBeUndefined();
});

test('web searches are counted', () => {
  expect(costOf('claude-opus-5', { server_tool_use: { web_search_requests: 3 } })).toBeCloseTo(0.03, 9);
});

test('the offline planner costs nothing, an unknown model an unknown amount', () => {
  expect(costOf('offline', { input_tokens: million })).toBe(0);
  expect(costOf('openai:qwen3:8b', { input_tokens: 1 })).toBeUndefined();
  expect(costOf('claude-opus-9', { input_tokens: 1 })).toBeUndefined();
  expect(costOf('constructor', { input_tokens: 1 })).toBeUndefined();
});

test.each([
  ['claude-haiku-4-5-20251001', 1],
  ['claude-opus-4-20250514', 15],
  ['claude-opus-4-0', 15],
  ['claude-3-5-haiku-latest', 0.8],
  ['anthropic/claude-sonnet-5', 2],
  ['anthropic:claude-fable-5-1', 10],
  ['us.anthropic.claude-opus-4-1-20250805-v1:0', 15],
  ['claude-sonnet-5-5[1m]', 2],
  ['claude-opus-4@20250514', 15],
])('%s is found under its family', (id, input) => {
  expect(modelFacts(id)?.price.input).toBe(input);
});
