import { expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { config, loopTool } from './fixtures.ts';
import { initialState } from './state.ts';
import { step } from './step.ts';
import { emptyTranscript } from './transcript.ts';

const MESSAGE = { role: 'user', content: 'Hi' };

function firstStep(messages: readonly Json[], content: string, tools = config().tools) {
  const state = initialState(config({}, { tools }), { ...emptyTranscript(), messages });
  return step(state, { v: 1, at: 1, type: 'input', content });
}

test('a request with more messages, tools or bytes than the API takes is not sent, and the run says why', () => {
  const long = firstStep(new Array<Json>(100_000).fill(MESSAGE), 'Hi');
  const wide = firstStep(
    [],
    'Hi',
    Array.from({ length: 10_001 }, (_, at) => loopTool(`t${at}`)),
  );
  // Two bytes each: fewer characters than the bound, and more bytes.
  const big = firstStep([], '\u00e9'.repeat(17 * 1024 * 1024));
  for (const [next, words] of [
    [long, '100001 messages'],
    [wide, '10001 tools'],
    [big, 'bytes'],
  ] as const) {
    expect(next.effects).toEqual([{ type: 'end', how: 'failed' }]);
    expect(next.state.end).toMatchObject({ reason: 'request_too_large' });
    expect(next.state.end?.message).toContain(words);
  }
});

test('one that is just small enough is sent', () => {
  expect(firstStep(new Array<Json>(99_999).fill(MESSAGE), 'Hi').effects[0]?.type).toBe('model');
  expect(firstStep([], 'x'.repeat(31 * 1024 * 1024)).effects[0]?.type).toBe('model');
});
