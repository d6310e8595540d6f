import { describe, expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { failureToWire, ToolFailure } from './failure.ts';
import { failureHint } from './failure-hint.ts';
import { rawFrom, rawJson } from './raw-json.ts';

const textOf = (said: Json) => rawFrom({ isError: true, content: [{ type: 'text', text: JSON.stringify(said) }] });

describe('the hint of a result that its tool calls an error', () => {
  test('is read from our own wire form, partial results included', () => {
    const { failure } = new ToolFailure('Busy.', { category: 'transient', partial: [1, 2] });
    expect(failureHint(textOf(failureToWire(failure)))).toEqual({
      category: 'transient',
      retryable: true,
      partial: [1, 2],
    });
  });

  test.each([
    [{ isRetryable: false }, { retryable: false }],
    [{ retriable: true, message: 'busy' }, { retryable: true }],
    [{ retryable: true }, { retryable: true }],
    [{ error: { category: 'permission', retryable: false } }, { category: 'permission', retryable: false }],
    [{ errorCategory: 'validation' }, { category: 'validation' }],
  ])('is read from what others write: %j', (said, hint) => {
    expect(failureHint(textOf(said))).toEqual(hint);
    expect(failureHint(rawFrom({ isError: true, content: [], structuredContent: said }))).toEqual(hint);
  });

  test.each([
    ['prose', { isError: true, content: [{ type: 'text', text: 'Try again: "isRetryable": true' }] }],
    ['an unknown category', { isError: true, content: [], structuredContent: { category: 'constructor' } }],
    ['a word for a boolean', { isError: true, content: [], structuredContent: { isRetryable: 'yes' } }],
    ['a list', [1]],
    ['null', null],
    ['no content', { isError: true }],
  ])('is empty for %s', (_, result) => {
    expect(failureHint(rawFrom(result as Json))).toEqual({});
  });

  test('is empty for what is no JSON, and for a text longer than any message', () => {
    expect(failureHint(rawJson('{"content":'))).toEqual({});
    expect(failureHint(textOf({ isRetryable: true, padding: 'x'.repeat(200_000) }))).toEqual({});
  });
});
