import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, ToolDefinition } from '../../contracts/index.ts';
import { rawFrom, wireName } from '../../tools/index.ts';
import { type CompletionContext, complete } from './completion.ts';
import { isKeepable, openHistory } from './history.ts';
import { continues, joinLines, readInput } from './input-line.ts';
import { portable } from './portable.ts';
import { sessionRules } from './session-rules.ts';
import { columnsOf, wrap, wrapLines } from './wrap.ts';

describe('readInput', () => {
  test.each<[string, object]>([
    ['  ', { kind: 'nothing' }],
    ['hello', { kind: 'message', text: 'hello', isPlain: false }],
    ['/help', { kind: 'command', name: 'help', rest: '', words: [] }],
    ['/mcp  disable   one ', { kind: 'command', name: 'mcp', rest: 'disable   one', words: ['disable', 'one'] }],
    ['/?', { kind: 'command', name: '?' }],
    ['//help', { kind: 'message', text: '/help', isPlain: true }],
    ['/docs:format plan.md', { kind: 'command', name: 'docs:format', rest: 'plan.md' }],
    ['/etc/hosts is odd', { kind: 'message', text: '/etc/hosts is odd' }],
    ['/help\nme', { kind: 'message', text: '/help\nme' }],
    ['/', { kind: 'message', text: '/' }],
  ])('%j', (entered, input) => {
    expect(readInput(entered)).toMatchObject(input);
  });

  test('a line goes on after a backslash, not after two', () => {
    expect(['a\\', 'a\\\\', 'a', '\\'].map(continues)).toEqual([true, false, false, true]);
    expect(joinLines(['a\\', 'b', 'c\\'])).toBe('a\nb\nc\\');
  });
});

describe('complete', () => {
  const context: CompletionContext = {
    commands: ['exit', 'explain', 'mcp'],
    tools: () => ['mcp__fs__read', 'mcp__fs__write'],
    servers: () => ['fs', 'web'],
    sessions: () => ['20261130-1'],
    models: ['offline'],
  };
  test.each<[string, string[], string]>([
    ['/ex', ['/exit ', '/explain '], '/ex'],
    ['/', ['/exit ', '/explain ', '/mcp '], '/'],
    ['/explain mcp__fs__r', ['mcp__fs__read '], 'mcp__fs__r'],
    ['/mcp ', ['reconnect ', 'disable ', 'enable '], ''],
    ['/mcp dis', ['disable '], 'dis'],
    ['/mcp disable w', ['web '], 'w'],
    ['/mcp nonsense w', [], 'w'],
    ['/resume 2026', ['20261130-1 '], '2026'],
    ['/model off', ['offline '], 'off'],
    ['/explain one two', [], 'two'],
    ['what is /ex', [], ''],
  ])('%j', (line, candidates, part) => {
    const [found, replaced] = complete(line, context);
    expect(found).toEqual(candidates);
    if (candidates.length > 0) expect(replaced).toBe(part);
  });
});

describe('wrap', () => {
  function wrapped(pieces: readonly string[], width: number): string {
    let out = '';
    const flow = wrap(
      (text) => {
        out += text;
      },
      () => width,
    );
    for (const piece of pieces) flow.push(piece);
    flow.end();
    return out;
  }

  test.each<[string, number, string]>([
    ['one two three', 7, 'one two\nthree'],
    ['one two three', 80, 'one two three'],
    ['a\n\n  b', 10, 'a\n\n  b'],
    ['unbreakable-word x', 6, 'unbreakable-word x'],
    ['unbreakable-word xyz', 6, 'unbreakable-word\nxyz'],
    ['```\nlong line of code\n```\nlong line of text', 10, '```\nlong line of code\n```\nlong line\nof text'],
    ['日本語日本語 x', 6, '日本語日本語\nx'],
  ])('%j in %i columns', (text, width, expected) => {
    expect(wrapped([text], width)).toBe(expected);
  });

  test('changes nothing but blanks between words, however the text is cut into pieces', () => {
    const words = fc.array(fc.constantFrom('a', 'bb', 'ccc ', ' ', '\n', '日本', '🐎', 'dddddddddd'));
    fc.assert(
      fc.property(words, fc.integer({ min: 4, max: 20 }), (pieces, width) => {
        const text = pieces.join('');
        const whole = wrapped([text], width);
        expect(wrapped([...text], width)).toBe(whole);
        expect(wrapped(pieces, width)).toBe(whole);
        expect(whole.replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
      }),
    );
  });

  test('whole lines are set in where they go on, and colours take no room', () => {
    expect(wrapLines('  why: one two three four', 16)).toBe('  why: one two\n    three four');
    const painted = `\u001b[2m${'word '.repeat(3)}\u001b[22m`;
    expect(wrapLines(painted, 15)).toBe(painted);
    expect(columnsOf('e\u0301')).toBe(1);
  });
});

describe('the history', () => {
  test.each([
    'What is in this folder?',
    '/explain mcp__shop__refund_transaction',
    'Read src/mcp/client/stdio-connection.ts and tell me about restarts',
    'How many tokens did that take?',
    'Forgot to say: the secretary called',
  ])('keeps %j', (line) => {
    expect(isKeepable(line)).toBe(true);
  });

  test.each([
    ' not for the history',
    'my password is hunter2',
    'token: abcdef',
    'API_KEY=abc',
    'use sk-ant-REDACTED',
    'ghp_abcdefghijklmnop1234',
    'postgres://ada:hunter2@localhost/db',
    'Authorization: Bearer abc',
    'aB3dE6gH9jK2mN5pQ8sT1vW4yZ',
    '-----BEGIN PRIVATE KEY-----',
    'x'.repeat(3_000),
    '',
  ])('does not keep %j', (line) => {
    expect(isKeepable(line)).toBe(false);
  });

  test('is the owner’s alone, newest first, and bounded', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'bridle-history-'));
    const file = join(dir, 'state', 'chat-history');
    const history = await openHistory(file);
    for (const line of ['one', 'one', 'token: x', 'two']) await history.add(line);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await openHistory(file)).lines).toEqual(['two', 'one']);
    await writeFile(file, Array.from({ length: 5_000 }, (_, nth) => `line ${nth}\n`).join(''));
    const long = await openHistory(file);
    expect(long.lines).toHaveLength(1_000);
    expect(long.lines[0]).toBe('line 4999');
    for (let nth = 0; nth < 1_001; nth += 1) await long.add(`more ${nth}`);
    expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(1_000);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('that can not be written costs nothing else', async () => {
    const history = await openHistory('/dev/null/nowhere');
    await history.add('one');
    expect(history.lines).toEqual(['one']);
  });
});

describe('sessionRules', () => {
  const who = { agent: 'main', via: 'terminal' } as const;
  const tool = (name: string, key = 'shop'): ToolDefinition => ({
    ref: {
      server: { key, scope: 'project', fingerprint: 'f', trustAnnotations: false },
      tool: name,
      name: wireName(key, name),
      fingerprint: 'f',
    },
    description: '',
    inputSchema: {},
    raw: rawFrom({}),
    effect: 'write',
  });
  const layer = { scope: 'project', file: 'bridle.json', trusted: true } as const;

  test('an always allows exactly the tool', () => {
    const rules = sessionRules([], 'default');
    const asked = tool('refund');
    expect(rules.always({ who, tool: asked, decision: rules.policy.view(who, asked) })).toEqual({
      rule: 'mcp__shop__refund',
    });
    const effects = [asked, tool('refund_all'), tool('refund', 'other')].map(
      (each) => rules.policy.view(who, each).effect,
    );
    expect(effects).toEqual(['allow', 'ask', 'ask']);
    expect(rules.added).toEqual(['mcp__shop__refund']);
  });

  test('an always is for the tool as it was defined then', () => {
    const rules = sessionRules([], 'default');
    const asked = tool('refund');
    rules.always({ who, tool: asked, decision: rules.policy.view(who, asked) });
    const redefined = { ...asked, ref: { ...asked.ref, fingerprint: 'other' } };
    expect(rules.policy.view(who, redefined).effect).toBe('ask');
    expect(rules.policy.view(who, { ...asked }).effect).toBe('allow');
  });

  test('an ask rule stands above it, and that is said', () => {
    const rules = sessionRules([{ ...layer, permissions: { ask: ['mcp__shop__*'] } }], 'default');
    const decision = rules.policy.view(who, tool('refund'));
    expect(rules.always({ who, tool: tool('refund'), decision })).toEqual({
      why: expect.stringContaining('an ask rule (bridle.json) wants your word for each call'),
    });
    expect(rules.added).toEqual([]);
  });

  test('a hook that asks stands above it, and that is said', () => {
    const rules = sessionRules([{ ...layer, permissions: {} }], 'default');
    const reasons = [{ room: 'policy', code: 'hook_ask', text: 'A hook wants it asked about.' }] as const;
    const decision = { effect: 'ask', reasons, policyVersion: 'x' } as const;
    expect(rules.always({ who, tool: tool('refund'), decision })).toEqual({ why: expect.stringContaining('a hook') });
    expect(rules.added).toEqual([]);
  });

  test('deny rules hold as before', () => {
    const rules = sessionRules([{ ...layer, permissions: { deny: ['mcp__shop__refund'] } }], 'default');
    const decision = { effect: 'ask', reasons: [], policyVersion: 'x' } as const;
    expect(rules.always({ who, tool: tool('refund'), decision })).toHaveProperty('why');
    expect(rules.policy.view(who, tool('refund')).effect).toBe('deny');
  });
});

describe('portable', () => {
  const said = (...content: Json[]): Json => ({ role: 'assistant', content });
  test('leaves a model’s private notes behind, and keeps the rest as it is', () => {
    const text = { type: 'text', text: 'Hello.' };
    const user = { role: 'user', content: 'Hi.' };
    const messages = [
      user,
      said({ type: 'thinking', thinking: '…', signature: 's' }, text),
      said({ type: 'thinking' }),
    ];
    expect(portable(messages)).toEqual([user, said(text)]);
  });

  test('is null for what only its provider can read', () => {
    expect(portable([said({ type: 'server_tool_use', id: 'x', name: 'web_search', input: {} })])).toBeNull();
  });
});
