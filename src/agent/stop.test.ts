import { describe, expect, test } from 'vitest';
import { judge } from './stop.ts';

const end = (how: string) => ({ next: 'end', how });
const failed = (code: string) => ({ next: 'end', how: 'failed', error: { code } });

describe('what follows a stop reason', () => {
  test.each([
    ['end_turn', end('answered'), failed('inconsistent_end_turn')],
    ['stop_sequence', end('answered'), failed('inconsistent_stop_sequence')],
    ['max_tokens', { next: 'ask_again' }, { next: 'ask_again' }],
    ['model_context_window_exceeded', end('truncated'), end('truncated')],
    ['refusal', end('refused'), end('refused')],
    ['tool_use', failed('inconsistent_tool_use'), { next: 'run_calls' }],
    ['pause_turn', { next: 'send_back' }, failed('inconsistent_pause_turn')],
    ['compaction', { next: 'send_back' }, failed('inconsistent_compaction')],
    ['something_new', failed('unknown_stop_reason'), failed('unknown_stop_reason')],
    ['null', failed('unknown_stop_reason'), failed('unknown_stop_reason')],
    ['constructor', failed('unknown_stop_reason'), failed('unknown_stop_reason')],
  ])('%s', (reason, without, withCalls) => {
    expect(judge(reason, false, false)).toMatchObject(without);
    expect(judge(reason, true, false)).toMatchObject(withCalls);
  });

  test('a mark makes an end_turn a question, and nothing else', () => {
    expect(judge('end_turn', false, true)).toEqual(end('asked'));
    expect(judge('refusal', false, true)).toEqual(end('refused'));
    expect(judge('tool_use', true, true)).toEqual({ next: 'run_calls' });
  });
});
