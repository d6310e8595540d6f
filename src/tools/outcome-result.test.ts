import { describe, expect, test } from 'vitest';
import type { JsonObject, Outcome, Reason } from '../contracts/index.ts';
import { outcomeToToolResult, rawFrom, rawJson, ToolFailure } from './index.ts';

const because = (...texts: string[]): Reason[] => texts.map((text) => ({ room: 'test', code: 'x', text }));

function wire(outcome: Outcome): JsonObject {
  const block = outcomeToToolResult('toolu_1', outcome);
  expect(block).toMatchObject({ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true });
  return JSON.parse(String(block.content)) as JsonObject;
}

describe('outcomeToToolResult', () => {
  test('passes content that was shaped, and shapes what was not', () => {
    const raw = rawFrom({ content: [{ type: 'text', text: 'hi' }] });
    expect(outcomeToToolResult('t', { kind: 'ok', raw, isError: false })).toEqual({
      type: 'tool_result',
      tool_use_id: 't',
      content: 'hi',
    });
    expect(outcomeToToolResult('t', { kind: 'ok', raw, isError: false, content: 'shaped' }).content).toBe('shaped');
  });

  test("marks a server's own error as one, in its words", () => {
    const raw = rawFrom({ content: [{ type: 'text', text: 'no such file' }], isError: true });
    expect(outcomeToToolResult('t', { kind: 'ok', raw, isError: true })).toMatchObject({
      content: 'no such file',
      is_error: true,
    });
  });

  test('gives a failure its wire form', () => {
    const { failure } = new ToolFailure('Outside the return window.', {
      alternatives: ['offer an exchange'],
      attempts: ['asked the backend'],
      partial: { seen: 1 },
    });
    expect(wire({ kind: 'failed', failure })).toEqual({
      errorCategory: 'business',
      isRetryable: false,
      description: 'Outside the return window.',
      outcome: 'not_executed',
      attempted: ['asked the backend'],
      partialResults: { seen: 1 },
      alternatives: ['offer an exchange'],
    });
    expect(wire({ kind: 'cancelled', failure: { ...failure, executed: 'unknown' } }).outcome).toBe('unknown');
  });

  test('asks for a correction when arguments are wrong, naming each field', () => {
    const reasons = because('/amount: expected integer', '/id: required, missing');
    expect(wire({ kind: 'invalid', reasons })).toEqual({
      errorCategory: 'validation',
      isRetryable: true,
      description: '/amount: expected integer\n/id: required, missing',
      outcome: 'not_executed',
    });
  });

  test('says what is not allowed and never invites to try again', () => {
    expect(wire({ kind: 'denied', reasons: because('A rule denies it.', 'Allow it with --allow x.') })).toMatchObject({
      errorCategory: 'permission',
      isRetryable: false,
      description: 'A rule denies it.\nAllow it with --allow x.',
    });
    expect(wire({ kind: 'denied', reasons: [] }).description).toBe('This call is not allowed.');
    expect(wire({ kind: 'unknown_tool', reasons: because('No tool named "x".') })).toMatchObject({
      errorCategory: 'validation',
      isRetryable: false,
    });
  });

  test('names the approval that a parked call waits for', () => {
    expect(wire({ kind: 'parked', approval: 'ap-7', reasons: because('An admin decides.') })).toMatchObject({
      errorCategory: 'permission',
      approval: 'ap-7',
      description: 'The call waits for approval "ap-7" and has not run. An admin decides.',
    });
  });

  test('says that a question of the tool could not be put to anyone', () => {
    expect(wire({ kind: 'input_required', requests: rawFrom([{ method: 'elicitation/create' }]) })).toMatchObject({
      isRetryable: false,
      requests: [{ method: 'elicitation/create' }],
    });
    expect(wire({ kind: 'input_required', requests: rawJson('{') }).requests).toBe('{');
  });
});
