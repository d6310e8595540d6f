import { describe, expect, test } from 'vitest';
import type { Json, LoopEvent } from '../contracts/index.ts';
import { BridleError } from '../tools/index.ts';
import { calls, config, drain, ok, reply, resultsOf, says, script, start, textBlock, toolUse } from './fixtures.ts';
import { readMessages } from './read-messages.ts';
import { initialState } from './state.ts';
import { step } from './step.ts';

describe('a run', () => {
  test('answers a call and ends with what the model says then', async () => {
    const model = script(calls('read'), says('All done.'));
    const run = start(model, async () => ok('the file'));
    const events = await drain(run);
    const result = await run.result;
    expect(result).toMatchObject({ end: 'answered', text: 'All done.', turns: 2, calls: 1 });
    expect(result.usage).toEqual({ inputTokens: 20, outputTokens: 10 });
    expect(result.messages).toHaveLength(4);
    expect(result.messages[2]).toEqual({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'read_0', content: 'the file' }],
    });
    expect(events.map((event) => event.type)).toEqual([
      'arguments',
      'message',
      'call',
      'outcome',
      'text',
      'message',
      'end',
    ]);
  });

  test('ends whether or not anybody reads its events', async () => {
    const result = await start(script(calls('read'), says('Done.'))).result;
    expect(result.end).toBe('answered');
  });

  test('gives every reader all events, also one that comes after the end', async () => {
    const run = start(script(calls('read'), says('Done.')));
    const [one, two] = await Promise.all([drain(run), drain(run)]);
    expect(two).toEqual(one);
    expect(await drain(run)).toEqual(one);
    expect(one.at(-1)?.type).toBe('end');
  });

  test('shows text as it streams, once', async () => {
    const model = script(async ({ onDelta }) => {
      onDelta?.({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } });
      onDelta?.({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo.' } });
      return says('Hello.');
    });
    const texts = (await drain(start(model))).flatMap((event) => (event.type === 'text' ? [event.text] : []));
    expect(texts.join('')).toBe('Hello.');
  });

  test('shows why the model is waited for', async () => {
    const model = script(async ({ onWait }) => {
      onWait?.({ ms: 500, reason: '529 overloaded' });
      return says('Hi.');
    });
    expect(await drain(start(model))).toContainEqual({ type: 'wait', ms: 500, reason: '529 overloaded' });
  });

  test('a listener that throws changes nothing', async () => {
    const run = start(script(calls('read'), says('Done.')), undefined, {
      onProgress: () => {
        throw new Error('mine');
      },
      onEvent: () => {
        throw new Error('mine too');
      },
    });
    expect((await run.result).end).toBe('answered');
  });

  test('its events, folded again, are the whole run', async () => {
    const log: LoopEvent[] = [];
    const run = start(script(calls('read', 'write'), says('Done.')), undefined, {
      onEvent: (event) => log.push(event),
    });
    const result = await run.result;
    const folded = log.reduce((state, event) => step(state, event).state, initialState(config()));
    expect(folded.end?.how).toBe('answered');
    expect(folded.transcript.messages).toEqual(result.messages);
    expect(log.filter((event) => event.type === 'intent')).toHaveLength(2);
  });
});

describe('a model that fails', () => {
  test('ends the run as failed, with its code, its words and what to do', async () => {
    const error = new BridleError('model_unreachable', 'No answer from localhost.', { hint: 'Start it.' });
    const run = start(script(error));
    const result = await run.result;
    expect(result).toMatchObject({
      end: 'failed',
      error: { code: 'model_unreachable', message: 'No answer from localhost.', hint: 'Start it.' },
    });
    expect((await drain(run)).map((event) => event.type)).toEqual(['end']);
  });

  test('with any other error is named too', async () => {
    const result = await start(script(calls('read'), new Error('socket hang up'))).result;
    expect(result).toMatchObject({ end: 'failed', calls: 1, error: { code: 'model_failed' } });
    expect(result.error?.message).toContain('socket hang up');
    expect(readMessages(result.messages)).toMatchObject({ state: 'ready' });
  });

  test('with a reply that is no message is told apart', async () => {
    const result = await start(script({ stop_reason: 'end_turn', content: 'text' })).result;
    expect(result).toMatchObject({ end: 'failed', error: { code: 'model_reply_malformed' } });
  });

  test.each([2_000, 50_000])('with a reply that is nested %i deep, which no journal could hold, too', async (depth) => {
    const input = JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as Json;
    const model = { id: 'own', respond: async () => ({ message: reply([toolUse('a', 'read', input)], 'tool_use') }) };
    const result = await start(model as unknown as Parameters<typeof start>[0]).result;
    expect(result).toMatchObject({ end: 'failed', calls: 0, error: { code: 'model_reply_malformed' } });
  });

  test('ends when a model of somebody’s own answers with nothing', async () => {
    const nothing = { id: 'own', respond: async () => undefined } as unknown as Parameters<typeof start>[0];
    const result = await start(nothing).result;
    expect(result).toMatchObject({ end: 'failed', error: { code: 'model_reply_malformed' } });
  });

  test('that goes silent is given up', async () => {
    const model = script(() => new Promise(() => {}));
    const result = await start(model, undefined, { modelIdleMs: 1 }).result;
    expect(result).toMatchObject({ end: 'failed', error: { code: 'model_silent' } });
  });
});

describe('the result', () => {
  test.each([
    ['answered', 'end_turn'],
    ['answered', 'stop_sequence'],
    ['truncated', 'max_tokens'],
    ['truncated', 'model_context_window_exceeded'],
  ])('that is %s says by which stop reason: %s', async (end, stopReason) => {
    expect(await start(script(says('x', stopReason), says('x', stopReason))).result).toMatchObject({ end, stopReason });
  });

  test('of a refusal has what the API says of it', async () => {
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'No.' };
    const result = await start(script({ ...says('', 'refusal'), stop_details })).result;
    expect(result).toMatchObject({ end: 'refused', stopReason: 'refusal', stopDetails: stop_details });
  });

  test('of a run without a reply has no stop reason', async () => {
    expect(await start(script(new Error('down'))).result).not.toHaveProperty('stopReason');
  });
});

describe('a reply that was cut', () => {
  test('is asked for once more with more room, and none of its calls run', async () => {
    const cut = reply([textBlock('I will'), toolUse('a', 'write')], 'max_tokens');
    const model = script(cut, says('Done.'));
    const ran: string[] = [];
    const run = start(model, async ({ name }) => {
      ran.push(name);
      return ok('x');
    });
    const events = await drain(run);
    const result = await run.result;
    expect(ran).toEqual([]);
    expect(model.requests.map((request) => request.max_tokens)).toEqual([100, 400]);
    expect(model.requests[1]?.messages).toEqual(model.requests[0]?.messages);
    expect(result).toMatchObject({ end: 'answered', text: 'Done.', turns: 1 });
    expect(events).toContainEqual(expect.objectContaining({ type: 'limit', limit: 'max_tokens', retrying: true }));
  });

  test('twice ends the run as truncated, its calls answered as not run', async () => {
    const cut = reply([textBlock('I will'), toolUse('a', 'write')], 'max_tokens');
    const result = await start(script(cut, cut), async () => {
      throw new Error('must not run');
    }).result;
    expect(result).toMatchObject({ end: 'truncated', text: 'I will', calls: 0 });
    expect(String(resultsOf(result.messages).get('a')?.content)).toContain('not_executed');
  });

  test('and ended in thought leaves messages that anybody can go on from', async () => {
    const cut = reply([textBlock('So'), { type: 'thinking', thinking: 'hm', signature: 's' }], 'max_tokens');
    const { messages } = await start(script(cut, cut)).result;
    expect(messages.at(-1)).toEqual({ role: 'assistant', content: [textBlock('So')] });
  });

  test('whose second try is refused by the model is the end', async () => {
    const result = await start(script(says('Half a', 'max_tokens'), new Error('max_tokens too high'))).result;
    expect(result).toMatchObject({ end: 'truncated', text: 'Half a' });
    expect(result.messages).toHaveLength(2);
  });
});

describe('a question', () => {
  test('that the model marks outside its text ends the run as asked', async () => {
    const result = await start(script({ ...says('Which order?'), bridle: { asked: true } })).result;
    expect(result).toMatchObject({ end: 'asked', text: 'Which order?' });
    expect((await start(script(says('Which order?'))).result).end).toBe('answered');
  });

  test('put through the tool for it does the same, after the other calls have run', async () => {
    const content = [toolUse('q', 'ask_user', { question: 'Which order?' }), toolUse('a', 'read')];
    const run = start(script(reply(content, 'tool_use')), undefined, { config: config({}, { askTool: 'ask_user' }) });
    const result = await run.result;
    expect(result).toMatchObject({ end: 'asked', text: 'Which order?', calls: 1 });
    expect(readMessages(result.messages)).toMatchObject({ state: 'ready' });
  });

  test('options of the one question come with the result', async () => {
    const askTool = { config: config({}, { askTool: 'ask_user' }) };
    const question = { question: 'Which?', options: ['O-1', ' ', 7, 'O-2'] };
    const result = await start(script(reply([toolUse('q', 'ask_user', question)], 'tool_use')), undefined, askTool)
      .result;
    expect(result).toMatchObject({ end: 'asked', text: 'Which?', options: ['O-1', 'O-2'] });
    const two = [toolUse('q', 'ask_user', question), toolUse('r', 'ask_user', question)];
    expect(await start(script(reply(two, 'tool_use')), undefined, askTool).result).not.toHaveProperty('options');
  });

  test('without words is sent back to the model', async () => {
    const model = script(reply([toolUse('q', 'ask_user', {})], 'tool_use'), says('Sorry.'));
    const result = await start(model, undefined, { config: config({}, { askTool: 'ask_user' }) }).result;
    expect(result).toMatchObject({ end: 'answered', text: 'Sorry.' });
  });
});
