/** What a model is told of a call that went wrong: each kind of failure, from the tool to the `tool_result` block. */
import { describe, expect, test } from 'vitest';
import {
  createAgent,
  defineTool,
  type Json,
  type JsonObject,
  memoryRecorder,
  type Tool,
  ToolFailure,
} from '../src/index.ts';
import { checkMessagesRequest, scriptedModel } from '../src/testing/index.ts';

const input = {
  type: 'object',
  properties: { order: { type: 'string', pattern: '^O-[0-9]+$' } },
  required: ['order'],
} as const;

function reading(handler: (order: string) => unknown): Tool<never> {
  const options = { name: 'look_up', description: 'Looks up an order.', input, annotations: { readOnlyHint: true } };
  return defineTool(options, (given: { order: string }) => handler(given.order)) as Tool<never>;
}

interface Case {
  readonly handler: (order: string) => unknown;
  readonly args?: JsonObject;
  readonly permissions?: { readonly allow?: string[]; readonly ask?: string[] };
  /** The `tool_result` block's own words: JSON where it is an error. */
  readonly told: Json;
  readonly isError: boolean;
  /** How often the tool is called. */
  readonly times: number;
}

const CASES: Readonly<Record<string, Case>> = {
  transient: {
    handler: () => {
      throw new ToolFailure('The order service does not answer (503).', {
        category: 'transient',
        executed: 'not_executed',
        alternatives: ['Look into the mirror of last night with look_up_mirror.'],
        partial: { found: 1 },
      });
    },
    told: {
      errorCategory: 'transient',
      isRetryable: true,
      description: 'The order service does not answer (503).',
      outcome: 'not_executed',
      attempted: [
        'Attempt 1: The order service does not answer (503).',
        'Attempt 2: The order service does not answer (503).',
        'Attempt 3: The order service does not answer (503).',
      ],
      partialResults: { found: 1 },
      alternatives: ['Look into the mirror of last night with look_up_mirror.'],
    },
    isError: true,
    times: 3,
  },
  validation: {
    handler: () => 'never',
    args: { order: '104' },
    told: {
      errorCategory: 'validation',
      isRetryable: true,
      description: expect.stringMatching(/\/order: .*\^O-\[0-9\]\+\$/) as never,
      outcome: 'not_executed',
    },
    isError: true,
    times: 0,
  },
  business: {
    handler: () => {
      throw new ToolFailure('Order O-104 is outside the return window of 30 days. Offer a voucher.');
    },
    told: {
      errorCategory: 'business',
      isRetryable: false,
      description: 'Order O-104 is outside the return window of 30 days. Offer a voucher.',
      outcome: 'not_executed',
    },
    isError: true,
    times: 1,
  },
  permission: {
    handler: () => 'never',
    permissions: { ask: ['look_up'] },
    told: {
      errorCategory: 'permission',
      isRetryable: false,
      description: expect.stringContaining('look_up') as never,
      outcome: 'not_executed',
    },
    isError: true,
    times: 0,
  },
  'an empty answer': {
    handler: () => ({ orders: [], matched: 0 }),
    told: { orders: [], matched: 0 },
    isError: false,
    times: 1,
  },
};

describe('a model is told of', () => {
  test.each(Object.entries(CASES))('%s', async (kind, { handler, args, permissions, told, isError, times }) => {
    let called = 0;
    const tool = reading((order) => {
      called += 1;
      return handler(order);
    });
    const model = scriptedModel([{ calls: [{ name: 'look_up', input: args ?? { order: 'O-104' } }] }, 'I see.']);
    const recorder = memoryRecorder();
    const agent = await createAgent({
      model,
      tools: [tool],
      permissions: permissions ?? { allow: ['look_up'] },
      recorder,
    });
    const result = await agent.run('Look up O-104.').result;
    await agent.close();
    const [block] = (result.messages[2] as { content: JsonObject[] }).content;
    expect(block?.is_error ?? false).toBe(isError);
    expect(JSON.parse(String(block?.content))).toEqual(told);
    expect(called).toBe(times);
    expect(recorder.outcomes).toHaveLength(1);
    // What nobody here may decide is handed to somebody who may; everything else is the model's to deal with.
    expect(result.handoff?.reason).toBe(kind === 'permission' ? 'permission' : undefined);
    expect(
      checkMessagesRequest({ max_tokens: 1, messages: [...result.messages, { role: 'user', content: 'On.' }] }),
    ).toEqual([]);
  });
});
