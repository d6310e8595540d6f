import { describe, expect, test } from 'vitest';
import type { RunEvent, RunResult } from '../../agent/index.ts';
import { rawFrom } from '../../tools/index.ts';
import { styleFor } from '../style.ts';
import { openScreen } from './screen.ts';
import { turnView } from './turn-view.ts';

const plain = styleFor({ isTTY: false }, {});
const result: RunResult = {
  end: 'answered',
  text: 'Hello there.',
  messages: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  turns: 1,
  calls: 0,
  conversation: 'c',
};

/** A terminal of 40 columns; what it shows, in order, and what of it is on stdout. */
function terminal(live = true) {
  let all = '';
  let stdout = '';
  const stream = (isOut: boolean) =>
    ({
      isTTY: true,
      columns: 40,
      write(text: string) {
        all += text;
        if (isOut) stdout += text;
        return true;
      },
    }) as unknown as NodeJS.WriteStream;
  const view = turnView(openScreen({ stdout: stream(true), stderr: stream(false) }), plain, live);
  return { view, all: () => all, stdout: () => stdout };
}

const message: RunEvent = { type: 'message', message: { content: [] }, stopReason: 'end_turn' };

describe('a turn at a terminal', () => {
  test('shows text as it arrives, on stdout, once', () => {
    const { view, stdout } = terminal();
    view.onProgress({ type: 'text', text: 'Hello ' });
    view.onProgress({ type: 'text', text: 'there. ' });
    expect(stdout()).toBe('Hello there.');
    view.onProgress(message);
    view.ended(result, 5);
    expect(stdout()).toBe('Hello there.\n');
  });

  test('says that a reply begins anew when the model is waited for in the middle of it', () => {
    const { view, all } = terminal();
    view.onProgress({ type: 'text', text: 'Hel' });
    view.onProgress({ type: 'wait', ms: 1500, reason: 'overloaded' });
    view.onProgress({ type: 'text', text: 'Hello there.' });
    expect(all()).toMatch(/^Hel\n.*begins anew[\s\S]*void\n {2}waiting 1\.5 s: overloaded\nHello/);
  });

  test('does not say so when nothing was shown', () => {
    const { view, all } = terminal();
    view.onProgress({ type: 'wait', ms: 1000, reason: 'overloaded' });
    expect(all()).toBe('  waiting 1.0 s: overloaded\n');
  });

  test('folds long arguments and results into a line each, and shows them whole by number', async () => {
    const { view, all } = terminal();
    const args = { text: 'word '.repeat(40).trim() };
    view.onProgress({ type: 'call', callId: 'c1', name: 'write', args });
    view.recorder.outcome({
      callId: 'c1',
      conversation: 'c',
      who: { agent: 'main', via: 'terminal' },
      name: 'write',
      args,
      startedAt: 0,
      ms: 12,
      attempts: 1,
      outcome: {
        kind: 'ok',
        raw: rawFrom({ content: [{ type: 'text', text: `done ${'x'.repeat(99)}\u001b[2J` }] }),
        isError: false,
      },
    });
    const [first = '', second = '', ...more] = all().trimEnd().split('\n');
    expect(first).toMatch(/^→ write \{"text":"word .*… \/show 1$/);
    expect(second).toMatch(/^← ok in 12 ms: done x+… \/show 1$/);
    expect(more).toEqual([]);
    expect(Math.max(first.length, second.length)).toBeLessThanOrEqual(40);
    const whole = view.call(1) ?? '';
    expect(whole).toContain(args.text);
    expect(whole).toContain('x'.repeat(99));
    expect(whole).not.toContain('\u001b');
    expect(view.call(2)).toBeUndefined();
  });

  test('shows a question that came as a call, with its options, and not one that was text already', () => {
    const asked: RunResult = { ...result, end: 'asked', text: 'Which?', options: ['A', 'B'] };
    const byCall = terminal();
    byCall.view.onProgress(message);
    byCall.view.ended(asked, 1);
    expect(byCall.stdout()).toBe('? Which?\n  1. A\n  2. B\n');
    const byText = terminal();
    byText.view.onProgress({ type: 'text', text: 'Which?' });
    byText.view.onProgress(message);
    byText.view.ended({ ...asked, options: [] }, 1);
    expect(byText.stdout()).toBe('Which?\n');
  });

  test('says how a turn ended that has no answer', () => {
    const { view, all } = terminal();
    view.ended({ ...result, text: '', end: 'aborted' }, 1);
    view.ended(
      { ...result, text: '', end: 'failed', error: { code: 'model_silent', message: 'Nothing.', hint: 'Wait.' } },
      1,
    );
    view.ended({ ...result, text: '', end: 'truncated' }, 1);
    for (const part of ['the session goes on', 'error (model_silent): Nothing.', '  Wait.', 'ended: truncated']) {
      expect(all()).toContain(part);
    }
  });

  test('a text that would drive the terminal does not', () => {
    const { view, all } = terminal();
    view.onProgress({ type: 'text', text: 'a\u001b]0;title\u0007b\u202ec' });
    view.onProgress(message);
    expect(all()).toBe('abc\n');
  });
});

test('in a pipe, stdout gets the answer when the turn has ended, and nothing else', () => {
  const { view, stdout } = terminal(false);
  view.onProgress({ type: 'text', text: 'Let me look.' });
  view.onProgress({ ...message, stopReason: 'tool_use' });
  view.onProgress({ type: 'text', text: 'Hello there.' });
  view.onProgress(message);
  expect(stdout()).toBe('');
  view.ended(result, 1);
  expect(stdout()).toBe('Hello there.\n');
});
