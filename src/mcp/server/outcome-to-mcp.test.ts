import { describe, expect, test } from 'vitest';
import type { JsonObject, Outcome } from '../../contracts/index.ts';
import { rawJson } from '../../tools/index.ts';
import { outcomeToMcp } from './outcome-to-mcp.ts';

function errorOf(outcome: Outcome): JsonObject {
  const answer = outcomeToMcp(outcome);
  if (answer.kind !== 'result') throw new Error(`expected a result, got ${answer.kind}`);
  expect(answer.result.isError).toBe(true);
  const [block] = answer.result.content as { text: string }[];
  return JSON.parse(block?.text ?? '') as JsonObject;
}

const reason = (text: string) => ({ room: 'policy', code: 'c', text });

describe('outcomeToMcp', () => {
  test('a result is the very value that the host gave, errors of a server among them', () => {
    const raw = rawJson('{"content":[{"type":"new"}],"isError":true,"x":1}');
    expect(outcomeToMcp({ kind: 'ok', raw, isError: true })).toMatchObject({ kind: 'result', result: raw.parse() });
  });

  test.each(['[1]', '"text"', 'not JSON'])(
    'an answer that is no result object (%s) is told, with what came',
    (text) => {
      expect(errorOf({ kind: 'ok', raw: rawJson(text), isError: false })).toMatchObject({
        outcome: 'executed',
        description: expect.stringContaining('not an MCP result'),
        partialResults: text === 'not JSON' ? text : JSON.parse(text),
      });
    },
  );

  test('all reasons of a refusal are told, and that nothing ran', () => {
    expect(errorOf({ kind: 'denied', reasons: [reason('One.'), reason('Two.')] })).toEqual({
      errorCategory: 'permission',
      isRetryable: false,
      description: 'One. Two.',
      outcome: 'not_executed',
    });
    expect(errorOf({ kind: 'invalid', reasons: [reason('/a: expected string')] })).toMatchObject({
      errorCategory: 'validation',
      description: '/a: expected string',
    });
  });

  test('a parked call names its approval, in words and as a field', () => {
    expect(
      errorOf({ kind: 'parked', approval: 'AP-7', reasons: [reason('Refunds are approved by a person.')] }),
    ).toEqual(
      expect.objectContaining({
        approval: 'AP-7',
        outcome: 'not_executed',
        description: 'Refunds are approved by a person. It waits as approval AP-7.',
      }),
    );
  });

  test('a cancelled call says whether it may have run', () => {
    const failure = {
      category: 'transient',
      retryable: false,
      message: 'Cancelled.',
      executed: 'unknown',
      attempts: [],
    } as const;
    expect(errorOf({ kind: 'cancelled', failure })).toMatchObject({ outcome: 'unknown', description: 'Cancelled.' });
  });

  test('an unknown tool has no result at all', () => {
    expect(outcomeToMcp({ kind: 'unknown_tool', reasons: [reason('hidden by a rule')] })).toEqual({
      kind: 'unknown_tool',
    });
  });
});
