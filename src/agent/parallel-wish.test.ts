import { expect, test } from 'vitest';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import { createAgent } from './index.ts';

const look = defineTool(
  { name: 'look', description: 'Looks.', input: { type: 'object', properties: {} }, effect: 'read' },
  () => 'seen',
);

async function requestsWith(parallelWish: 'encourage' | 'independent' | 'sequential' | 'off', choice = false) {
  const model = scriptedModel([{ calls: [{ name: 'look' }] }, 'Done.']);
  const agent = await createAgent({
    model,
    tools: [look],
    permissions: { allow: ['look'] },
    parallelWish,
    ...(choice && { toolChoice: { first: 'any' } as const }),
  });
  expect((await agent.run('Go.').result).end).toBe('answered');
  return model.requests;
}

test.each([
  ['encourage', 'all in the same reply'],
  ['independent', 'independent of each other'],
  ['sequential', 'one tool call at a time'],
] as const)('%s is said in the system prompt of every request, and the choice stays free', async (wish, words) => {
  const requests = await requestsWith(wish);
  for (const request of requests) {
    expect(String(request.system)).toContain(words);
    expect(request).not.toHaveProperty('tool_choice');
  }
});

test('off goes with every request, whatever else is chosen', async () => {
  const off = { disable_parallel_tool_use: true };
  const auto = { type: 'auto', ...off };
  expect((await requestsWith('off')).map(({ tool_choice }) => tool_choice)).toEqual([auto, auto]);
  expect((await requestsWith('off', true)).map(({ tool_choice }) => tool_choice)).toEqual([
    { type: 'any', ...off },
    auto,
  ]);
});
