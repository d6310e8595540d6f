import { expect, test } from 'vitest';
import { ESTIMATE_ERROR, estimateTokens } from '../index.ts';

test('the estimate is within its stated error of the counts that the documentation gives for its examples', () => {
  const plain = { system: 'You are a scientist', messages: [{ role: 'user', content: 'Hello, Claude' }] };
  const withTool = {
    tools: [
      {
        name: 'get_weather',
        description: 'Get the current weather in a given location',
        input_schema: {
          type: 'object',
          properties: {
            location: { type: 'string', description: 'The city and state, e.g. San Francisco, CA' },
          },
          required: ['location'],
        },
      },
    ],
    messages: [{ role: 'user', content: "What's the weather like in San Francisco?" }],
  };
  for (const [body, counted] of [
    [plain, 14],
    [withTool, 403],
  ] as const) {
    expect(Math.abs(estimateTokens(body) - counted) / counted).toBeLessThan(ESTIMATE_ERROR);
  }
});

test('deferred tools count for nothing, forcing for more, images and documents for a flat figure', () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const tool = { name: 'a', input_schema: { type: 'object' } };
  const one = estimateTokens({ messages, tools: [tool] });
  expect(estimateTokens({ messages, tools: [tool, { ...tool, name: 'b', defer_loading: true }] })).toBe(one);
  const later = { ...tool, name: 'b', description: 'x'.repeat(360), defer_loading: true };
  const reference = { type: 'tool_reference', tool_name: 'b' };
  const found = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [reference] }] };
  expect(estimateTokens({ messages: [...messages, found], tools: [tool, later] })).toBeGreaterThan(one + 100);
  expect(estimateTokens({ messages, tools: [tool], tool_choice: { type: 'any' } })).toBeGreaterThan(one);
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
  const document = { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } };
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [image, document] };
  expect(estimateTokens({ messages: [{ role: 'user', content: [result] }] })).toBeGreaterThan(3000);
  expect(estimateTokens({})).toBe(1);
});
