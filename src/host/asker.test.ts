import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AskQuestion, Json } from '../contracts/index.ts';
import { printable, rawFrom } from '../tools/index.ts';
import type { TrustRequest } from './describe-trust.ts';
import { linePrompter } from './prompter.ts';
import { questionText } from './question-text.ts';
import { scriptedAsker } from './scripted-asker.ts';
import { terminalAsker } from './terminal-asker.ts';
import { trustPrompt } from './trust-prompt.ts';

function question(more: Partial<AskQuestion> = {}): AskQuestion {
  const server = { key: 'shop', scope: 'project', fingerprint: 'f', trustAnnotations: false } as const;
  return {
    callId: 'c1',
    who: { agent: 'main', via: 'terminal' },
    tool: {
      ref: { server, tool: 'refund', name: 'mcp__shop__refund', fingerprint: 'f' },
      description: '',
      inputSchema: {},
      raw: rawFrom({}),
      effect: 'write',
    },
    args: { transaction: 'T-1' },
    decision: {
      effect: 'ask',
      reasons: [
        { room: 'policy', code: 'ask_rule', text: 'To be asked.', source: { file: '/p/bridle.json', line: 3 } },
      ],
      policyVersion: 'v',
    },
    signal: new AbortController().signal,
    ...more,
  };
}

function terminal() {
  const input = new PassThrough();
  const shown: string[] = [];
  const output = { write: (text: string) => shown.push(text) };
  return { input, output, asker: terminalAsker({ input, output }), text: () => shown.join('') };
}

describe('questionText', () => {
  test('names agent, server, tool, the whole arguments, the facts and the rule with its place', () => {
    const text = questionText(question({ facts: { amount: 4200, currency: 'EUR' } }));
    for (const part of ['main', 'refund', 'server shop', '"transaction": "T-1"', '4200', 'EUR', '/p/bridle.json:3']) {
      expect(text).toContain(part);
    }
  });

  test('says why there are no facts', () => {
    expect(questionText(question({ factsMissing: 'the server is down' }))).toContain('not known: the server is down');
  });

  test('shows long arguments whole and names the call again below them', () => {
    const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`);
    const text = questionText(question({ args: { lines } }));
    for (const line of lines) expect(text).toContain(`"${line}"`);
    expect(text.trimEnd().split('\n').at(-1)).toContain('asks to run refund of server shop');
  });

  test('facts that fill the screen do not push the call out of sight', () => {
    const fillers = [Array.from({ length: 500 }, () => 'x'), ' '.repeat(20_000)];
    for (const facts of fillers) {
      const text = questionText(question({ facts }));
      expect(text.trimEnd().split('\n').at(-1)).toContain('asks to run refund of server shop');
    }
  });

  test('whatever the arguments are, nothing in it can drive or deceive a terminal, and nothing is lost', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })), (args) => {
        const text = questionText(question({ args: args as Json, factsMissing: Object.keys(args).join() }));
        expect(printable(text, { newlines: true })).toBe(text);
        const shown = text.slice(text.indexOf('arguments: ') + 'arguments: '.length, text.indexOf('\n  what it would'));
        expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(args)));
      }),
    );
  });
});

describe('terminalAsker', () => {
  const rows: readonly [typed: string, reply: object][] = [
    ['y\n', { answer: 'allow', by: 'terminal' }],
    [' YES \r\n', { answer: 'allow', by: 'terminal' }],
    ['n\n', { answer: 'deny', by: 'terminal' }],
    ['n wrong order\n', { answer: 'deny', by: 'terminal', reason: 'wrong order' }],
    ['no, wrong order\n', { answer: 'deny', by: 'terminal', reason: 'wrong order' }],
    ['what?\n\ny\n', { answer: 'allow', by: 'terminal' }],
    ['y but only 5 EUR\nn\n', { answer: 'deny', by: 'terminal' }],
  ];
  test.each(rows)('%j', async (typed, reply) => {
    const { input, asker } = terminal();
    input.write(typed);
    expect(await asker.ask(question())).toEqual(reply);
  });

  test.each([
    ['', 'ended'],
    ['maybe\nyep\nsure\n', 'not answered with yes or no'],
  ])('the end of the input after %j is a no', async (typed, why) => {
    const { input, asker } = terminal();
    input.end(typed);
    expect(await asker.ask(question())).toMatchObject({ answer: 'deny', reason: expect.stringContaining(why) });
    expect(await asker.ask(question())).toMatchObject({ answer: 'deny' });
  });

  test('questions are put one at a time, in order', async () => {
    const { input, asker, text } = terminal();
    const first = asker.ask(question({ args: { n: 'first' } }));
    const second = asker.ask(question({ args: { n: 'second' } }));
    await new Promise((resolve) => setImmediate(resolve));
    expect(text()).toContain('first');
    expect(text()).not.toContain('second');
    input.write('y\n');
    expect(await first).toMatchObject({ answer: 'allow' });
    input.write('n\n');
    expect(await second).toMatchObject({ answer: 'deny' });
  });

  test('a call that is cancelled while its question stands or waits is denied at once', async () => {
    const { input, asker, text } = terminal();
    const standing = new AbortController();
    const waiting = new AbortController();
    const first = asker.ask(question({ signal: standing.signal }));
    const second = asker.ask(question({ signal: waiting.signal, args: { n: 'second' } }));
    const third = asker.ask(question());
    waiting.abort();
    expect(await second).toMatchObject({ answer: 'deny', reason: expect.stringContaining('cancelled') });
    standing.abort();
    expect(await first).toMatchObject({ answer: 'deny' });
    input.write('y\n');
    expect(await third).toMatchObject({ answer: 'allow' });
    expect(text()).not.toContain('second');
    expect(await asker.ask(question({ signal: AbortSignal.abort() }))).toMatchObject({ answer: 'deny' });
  });

  test('in a terminal, what was typed before the question was shown is not its answer', async () => {
    const { input, asker, text } = terminal();
    Object.assign(input, { isTTY: true });
    input.write('y\n');
    const answer = asker.ask(question());
    const typing = setInterval(() => text().includes('Run it?') && input.write('n\n'), 100);
    expect(await answer).toMatchObject({ answer: 'deny' });
    clearInterval(typing);
  });
});

describe('always', () => {
  const by = 'terminal, always in this session';
  test.each<[string, { rule: string } | { why: string }, object, string]>([
    [
      'a\n',
      { rule: 'mcp__shop__refund' },
      { answer: 'allow', by, always: 'session' },
      'Allowed until you leave: mcp__shop__refund',
    ],
    ['always\n', { rule: 'mcp__shop__refund' }, { answer: 'allow', by, always: 'session' }, 'Allowed until you leave'],
    [
      'a\ny\n',
      { why: 'An ask rule names it.' },
      { answer: 'allow', by: 'terminal' },
      'Not always: An ask rule names it.',
    ],
    ['a\nn\n', { why: 'An ask rule names it.' }, { answer: 'deny', by: 'terminal' }, 'Not always'],
    ['y\n', { rule: 'r' }, { answer: 'allow', by: 'terminal' }, '[y/a/n]'],
  ])('%j', async (typed, made, reply, shown) => {
    const { input, output, text } = terminal();
    const asker = terminalAsker({ input, output, always: () => made });
    input.write(typed);
    expect(await asker.ask(question())).toEqual(reply);
    expect(text()).toContain(shown);
  });

  test.each<[string, { rule: string } | { why: string }, object, string]>([
    [
      'p\n',
      { rule: 'r in this project' },
      { answer: 'allow', by: 'terminal, always in this project', always: 'project' },
      'Allowed: r in this project',
    ],
    [
      'p\ny\n',
      { why: 'The store is locked.' },
      { answer: 'allow', by: 'terminal' },
      'Not always: The store is locked.',
    ],
    ['n\n', { rule: 'r' }, { answer: 'deny', by: 'terminal' }, '[y/a/p/n]'],
  ])('in this project: %j', async (typed, made, reply, shown) => {
    const { input, output, text } = terminal();
    const asker = terminalAsker({ input, output, always: () => ({ rule: 'a' }), alwaysHere: async () => made });
    input.write(typed);
    expect(await asker.ask(question())).toEqual(reply);
    expect(text()).toContain(shown);
  });

  test('is no answer where it is not offered', async () => {
    const { input, asker, text } = terminal();
    input.write('a\np\nn\n');
    expect(await asker.ask(question())).toEqual({ answer: 'deny', by: 'terminal' });
    expect(text()).not.toContain('always');
  });
});

describe('trustPrompt', () => {
  const request: TrustRequest = {
    root: '/p',
    items: [{ kind: 'server', name: 'server a', hash: 'h', lines: ['server a runs:', '  npx a'], state: 'first' }],
    gone: [],
    notes: [],
    record: { path: '/p', files: new Map(), items: new Map() },
    covered: false,
  };

  test.each([
    ['y\n', true],
    ['yes\n', true],
    ['n\n', false],
    ['\n', false],
    ['yep\n', false],
    ['', false],
  ])('%j is %s', async (typed, trusted) => {
    const { input, output, text } = terminal();
    input.end(typed);
    expect(await trustPrompt(linePrompter({ input, output }))(request, new AbortController().signal)).toBe(trusted);
    expect(text()).toContain('npx a');
  });

  test('shares its input with the questions that follow', async () => {
    const { input, output, asker } = terminal();
    input.write('y\nn no\n');
    expect(await trustPrompt(linePrompter({ input, output }))(request, new AbortController().signal)).toBe(true);
    expect(await asker.ask(question())).toMatchObject({ answer: 'deny', reason: 'no' });
  });
});

describe('scriptedAsker', () => {
  test('uses each answer once, for its tool, prints what it answered, and denies what it does not know', async () => {
    const shown: string[] = [];
    const asker = scriptedAsker(
      [
        { tool: 'other', answer: 'allow' },
        { tool: 'refund', answer: 'allow' },
        { tool: 'refund', answer: 'deny', reason: 'too much' },
      ],
      { write: (text) => shown.push(text) },
    );
    expect(await asker.ask(question())).toEqual({ answer: 'allow', by: 'script' });
    expect(await asker.ask(question())).toEqual({ answer: 'deny', by: 'script', reason: 'too much' });
    expect(await asker.ask(question())).toMatchObject({ answer: 'deny' });
    expect(shown[0]).toContain('"transaction": "T-1"');
    expect(shown[0]).toContain('The script answers: yes');
    expect(shown[1]).toContain('The script answers: no (too much)');
  });
});
