import { describe, expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { costOf } from '../models/index.ts';
import { calls, says, script, start } from './fixtures.ts';
import { requestSize } from './request-size.ts';
import { type Answered, replyCost, runReport } from './run-report.ts';

const price = (usage: Json) => costOf('claude-haiku-4-5', usage);
const messages = [{ role: 'user', content: 'Go.' }];
const size = (tools: number, choice?: string) =>
  requestSize({
    tools: Array.from({ length: tools }, (_, at) => ({ name: `tool_${at}`, input_schema: { type: 'object' } })),
    messages,
    ...(choice !== undefined && { tool_choice: { type: choice } }),
  });
const usage = (read: number, written: number, fresh = 10): Json => ({
  input_tokens: fresh,
  cache_read_input_tokens: read,
  cache_creation_input_tokens: written,
  output_tokens: 5,
});
const answered = (before: Answered | undefined, request: Answered['size'], used: Json): Answered => ({
  size: request,
  cost: replyCost(before, request, used, price),
});

describe('What a reply cost', () => {
  test('is told apart by where its tokens came from, at the list price', () => {
    expect(replyCost(undefined, size(1), usage(1_000_000, 0, 0), price)).toMatchObject({
      inputTokens: 1_000_000,
      cacheReadTokens: 1_000_000,
      cacheWriteTokens: 0,
      outputTokens: 5,
      costUsd: 0.1 + 5 * 5e-6,
      changes: [],
      lostTokens: 0,
    });
  });

  test('names what changed, and what of the cache was lost by it', () => {
    const first = answered(undefined, size(2), usage(0, 1_000_000));
    const second = replyCost(first, size(3, 'any'), usage(0, 1_000_100), price);
    expect(second).toMatchObject({ changes: ['tools', 'choice'], lostTokens: 1_000_000 });
    expect(second.lostUsd).toBeCloseTo(1.25 - 0.1);
  });

  test('loses nothing where the next request begins as the one before', () => {
    const first = answered(undefined, size(2), usage(0, 500));
    expect(replyCost(first, size(2), usage(500, 80), price)).toMatchObject({ changes: [], lostTokens: 0, lostUsd: 0 });
  });

  test('has no price for a model that has none', () => {
    const cost = replyCost(undefined, size(0), usage(0, 0), () => undefined);
    expect(cost).not.toHaveProperty('costUsd');
  });
});

test('a report has the shares of definitions and of the cache over all replies', () => {
  const first = answered(undefined, size(2), usage(0, 90));
  const second = answered(first, size(2), usage(90, 0));
  const report = runReport([first, second]);
  expect(report).toMatchObject({ tools: 2, cachedShare: 0.45 });
  expect(report?.definitionsShare).toBeGreaterThan(0.3);
  expect(report?.definitionsShare).toBeLessThan(1);
  expect(runReport([])).toBeUndefined();
});

test('a run reports each of its replies', async () => {
  const { report } = await start(script(calls('read'), says('Done.'))).result;
  expect(report?.replies).toMatchObject([
    { inputTokens: 10, outputTokens: 5 },
    { inputTokens: 10, outputTokens: 5 },
  ]);
  expect(report?.tools).toBe(3);
});

test('definitions of deferred tools count once the conversation refers to them, and change nothing before it', () => {
  const tool = (name: string) => ({ name, description: 'x'.repeat(100), input_schema: { type: 'object' } });
  const tools = [tool('a'), { ...tool('b'), defer_loading: true }, { ...tool('c'), defer_loading: true }];
  const said = { role: 'user', content: 'Hi.' };
  const found = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 's', content: [{ type: 'tool_reference', tool_name: 'b' }] }],
  };
  const added = {
    role: 'system',
    content: [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'c' } }],
  };
  const [first, second, third] = [[said], [said, found], [said, found, added]].map((messages) =>
    requestSize({ tools, messages }),
  );
  expect([first, second, third].map((each) => each?.tools)).toEqual([1, 2, 3]);
  expect(first?.definitions).toBe(JSON.stringify(tools[0]).length);
  expect(second?.definitions).toBe(first?.definitions);
  expect(second?.found).toBe(JSON.stringify(tools[1]).length);
  if (first === undefined || second === undefined) throw new Error('no sizes');
  expect(replyCost(answered(undefined, first, usage(0, 500)), second, usage(500, 80), price).changes).toEqual([]);
});
