import { describe, expect, test, vi } from 'vitest';
import type { Decision, InputOrigin, Json, Model, ModelReply } from '../contracts/index.ts';
import { oneAtATime, type Prompter } from './prompter.ts';
import { lendModel, type SamplingBudget } from './sampling.ts';
import { readSampling, samplingText } from './sampling-request.ts';

const server = { key: 'research', scope: 'user', fingerprint: 'f', trustAnnotations: false } as const;
const from: InputOrigin = { callId: 'c', server, tool: 'sum_up', signal: new AbortController().signal };
const params = (more: { [key: string]: Json } = {}): Json => ({
  messages: [{ role: 'user', content: { type: 'text', text: 'Sum up.\u202e\u0007' } }],
  maxTokens: 100,
  ...more,
});

function lending(
  effect: Decision['effect'],
  lines: string[] | null = [],
  budget: SamplingBudget = { maxTokens: 500, requests: 2 },
) {
  const shown: string[] = [];
  const prompter: Prompter = {
    write: (text) => shown.push(text),
    ask: async () => lines?.shift(),
    alone: oneAtATime(),
  };
  const reply: ModelReply = {
    message: { role: 'assistant', content: [{ type: 'text', text: 'Short.' }] },
    stopReason: 'end_turn',
    usage: { input_tokens: 30, output_tokens: 20 },
  };
  const respond = vi.fn(async (_: Json) => reply);
  const model: Model = { id: 'm', respond };
  const decide = vi.fn(
    (): Decision => ({ effect, reasons: [{ room: 'p', code: 'r', text: 'Rule R.' }], policyVersion: '1' }),
  );
  const sampling = lendModel({
    servers: new Map([['research', budget]]),
    policy: { view: decide, decide },
    who: { agent: 'main', via: 'terminal' },
    model: () => model,
    ...(lines && { prompter }),
  });
  return { sampling, respond, decide, text: () => shown.join('') };
}

describe('lending the model to a server', () => {
  test('under an allow rule answers at once, without tools, and counts what was used', async () => {
    const { sampling, respond, text } = lending('allow');
    expect(
      await sampling.answer(params({ includeContext: 'allServers', systemPrompt: 'Be\u200b brief.' }), from),
    ).toEqual({
      role: 'assistant',
      content: { type: 'text', text: 'Short.' },
      model: 'm',
      stopReason: 'endTurn',
    });
    expect(respond.mock.calls[0]?.[0]).toEqual({
      max_tokens: 100,
      system: 'Be brief.',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Sum up.' }] }],
    });
    expect(sampling.lent()).toEqual({ requests: 1, inputTokens: 30, outputTokens: 20 });
    expect(text()).toBe('');
  });

  test('under an ask rule shows the request and then the answer, and sends neither without a yes', async () => {
    const both = lending('ask', ['y', 'y']);
    await both.sampling.answer(params(), from);
    expect(both.text()).toMatch(
      /research wants your model m to answer this:\n {2}user: Sum up\.[\s\S]*given this answer:\n {2}Short\./,
    );
    const none = lending('ask', ['n']);
    await expect(none.sampling.answer(params(), from)).rejects.toMatchObject({ code: 'sampling_refused' });
    expect(none.respond).not.toHaveBeenCalled();
    const half = lending('ask', ['y', 'n']);
    await expect(half.sampling.answer(params(), from)).rejects.toMatchObject({ code: 'sampling_refused' });
    const nobody = lending('ask', null);
    await expect(nobody.sampling.answer(params(), from)).rejects.toThrow('nobody sits at a terminal');
  });

  test('that is another one of the same name gets nothing; the one that is meant does', async () => {
    const budget = { maxTokens: 500, requests: 2 };
    const other = lending('allow', [], { ...budget, fingerprint: 'another' });
    await expect(other.sampling.answer(params(), from)).rejects.toThrow('another server of this name');
    expect(other.respond).not.toHaveBeenCalled();
    await expect(
      lending('allow', [], { ...budget, fingerprint: 'f' }).sampling.answer(params(), from),
    ).resolves.toBeDefined();
  });

  test('under a deny rule, to a server that is not named, and for no call is refused', async () => {
    const { sampling, respond, decide } = lending('deny');
    await expect(sampling.answer(params(), from)).rejects.toThrow('Rule R');
    expect(decide).toHaveBeenCalledWith(
      { agent: 'main', via: 'terminal' },
      expect.objectContaining({ ref: expect.objectContaining({ name: 'mcp__research__sampling' }) }),
      expect.anything(),
    );
    const other = { ...from, server: { ...server, key: 'other' } };
    await expect(sampling.answer(params(), other)).rejects.toMatchObject({ code: 'sampling_refused' });
    await expect(sampling.answer(params(), undefined)).rejects.toMatchObject({ code: 'sampling_refused' });
    expect(respond).not.toHaveBeenCalled();
  });

  test('ends when the budget is spent, of requests as of tokens', async () => {
    const requests = lending('allow');
    await requests.sampling.answer(params(), from);
    await requests.sampling.answer(params(), from);
    await expect(requests.sampling.answer(params(), from)).rejects.toMatchObject({ code: 'sampling_spent' });
    const tokens = lending('allow', [], { maxTokens: 60, requests: 9 });
    await tokens.sampling.answer(params(), from);
    await tokens.sampling.answer(params(), from);
    expect(tokens.respond.mock.calls.map(([body]) => (body as { max_tokens: number }).max_tokens)).toEqual([57, 7]);
    await expect(tokens.sampling.answer(params(), from)).rejects.toMatchObject({ code: 'sampling_spent' });
  });
});

describe('the budget of a server', () => {
  test('holds for requests that come together, those included that somebody is asked about', async () => {
    const lines: string[] = Array.from({ length: 9 }, () => 'y');
    const { sampling, respond } = lending('ask', lines, { maxTokens: 500, requests: 2 });
    const ends = await Promise.allSettled([1, 2, 3, 4].map(() => sampling.answer(params(), from)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(respond).toHaveBeenCalledTimes(2);
  });

  test('holds for what a request says, which is not sent when it takes more than what is left', async () => {
    const { sampling, respond } = lending('allow', [], { maxTokens: 1000, requests: 9 });
    const long = params({ messages: [{ role: 'user', content: { type: 'text', text: 'word '.repeat(1000) } }] });
    await expect(sampling.answer(long, from)).rejects.toThrow('has 1000 tokens of the model left, and its request');
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    const pictured = params({ messages: [{ role: 'user', content: image }] });
    await expect(sampling.answer(pictured, from)).rejects.toMatchObject({ code: 'sampling_spent' });
    expect(respond).not.toHaveBeenCalled();
    await sampling.answer(params(), from);
  });

  test('is spent by a model that does not count, too', async () => {
    const { sampling, respond } = lending('allow', [], { maxTokens: 20, requests: 100 });
    respond.mockImplementation(async () => ({
      message: { role: 'assistant', content: [{ type: 'text', text: 'x'.repeat(30) }] },
      stopReason: 'end_turn',
      usage: {},
    }));
    await sampling.answer(params(), from);
    expect(sampling.lent()).toEqual({ requests: 1, inputTokens: 3, outputTokens: 10 });
    await sampling.answer(params(), from);
    await expect(sampling.answer(params(), from)).rejects.toMatchObject({ code: 'sampling_spent' });
  });
});

test('everything that would be sent is shown, to its last word', async () => {
  const { sampling, text } = lending('ask', ['y', 'y'], { maxTokens: 100_000, requests: 1 });
  const long = `${'word '.repeat(9_000)}LAST`;
  await sampling.answer(params({ messages: [{ role: 'user', content: { type: 'text', text: long } }] }), from);
  expect(text()).toContain('LAST');
});

test('rules may go by whose content it is', async () => {
  const { sampling, decide } = lending('allow');
  await sampling.answer(params(), from);
  expect(decide.mock.calls[0]).toMatchObject([{}, {}, { labels: new Set(['server:research', 'untrusted-content']) }]);
});

describe('readSampling', () => {
  test.each<[string, Json]>([
    ['nothing', null],
    ['no messages', params({ messages: [] })],
    ['tools', params({ tools: [] })],
    ['no limit', params({ maxTokens: 0 })],
    ['sound', params({ messages: [{ role: 'user', content: { type: 'audio', data: '', mimeType: 'audio/wav' } }] })],
    ['a tool result', params({ messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] })],
    ['too much', params({ systemPrompt: 'x'.repeat(60_000) })],
    [
      'too many',
      params({ messages: Array.from({ length: 51 }, () => ({ role: 'user', content: { type: 'text', text: 'x' } })) }),
    ],
  ])('%s is refused', (_, given) => {
    expect(readSampling(given)).toHaveProperty('problem');
  });

  test('an image is passed on, and shown as its type and size', () => {
    const content = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    const read = readSampling(params({ messages: [{ role: 'user', content }] }));
    if ('problem' in read) throw new Error(read.problem);
    expect(samplingText(read)).toBe('user: [image image/png, 4 characters]\n(at most 100 tokens)');
  });
});
