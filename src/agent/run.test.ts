import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Json, LoopEvent, Outcome } from '../contracts/index.ts';
import { BridleError, rawFrom } from '../tools/index.ts';
import {
  calls,
  cancelledOutcome,
  config,
  drain,
  failedOutcome,
  ok,
  reply,
  resultsOf,
  says,
  script,
  start,
  textBlock,
  toolUse,
} from './fixtures.ts';
import { readMessages } from './read-messages.ts';
import { initialState } from './state.ts';
import { step } from './step.ts';

/** A promise with its keys outside. */
function gate<T = void>() {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

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
    expect(events.map((event) => event.type)).toEqual(['message', 'call', 'outcome', 'text', 'message', 'end']);
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

describe('calls', () => {
  test('that only read run side by side; the others run alone, in source order', async () => {
    const running = new Set<string>();
    const seen: string[][] = [];
    const run = start(script(calls('read', 'look', 'write', 'write', 'read'), says('Done.')), async ({ name, ctx }) => {
      running.add(ctx.callId);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push([...running]);
      await new Promise((resolve) => setImmediate(resolve));
      running.delete(ctx.callId);
      return ok(name);
    });
    await run.result;
    expect(seen).toEqual([['read_0', 'look_1'], ['read_0', 'look_1'], ['write_2'], ['write_3'], ['read_4']]);
  });

  test('have their results in source order in one user message, whichever comes back first', async () => {
    const slow = gate();
    const run = start(script(calls('read', 'look'), says('Done.')), async ({ ctx }) => {
      if (ctx.callId === 'read_0') await slow.promise;
      else setImmediate(slow.open);
      return ok(ctx.callId);
    });
    const { messages } = await run.result;
    const content = (messages[2] as { content: { tool_use_id: string }[] }).content;
    expect(content.map((block) => block.tool_use_id)).toEqual(['read_0', 'look_1']);
  });

  test('go on when a sibling fails or is denied', async () => {
    const ran: string[] = [];
    const run = start(script(calls('write', 'write', 'write'), says('Done.')), async ({ ctx }) => {
      ran.push(ctx.callId);
      if (ctx.callId === 'write_0') return failedOutcome();
      if (ctx.callId === 'write_1') return { kind: 'denied', reasons: [{ room: 'policy', code: 'no', text: 'No.' }] };
      return ok('fine');
    });
    const result = await run.result;
    expect(ran).toEqual(['write_0', 'write_1', 'write_2']);
    const results = resultsOf(result.messages);
    expect([...results.values()].map((block) => block.is_error ?? false)).toEqual([true, true, false]);
    expect(result.end).toBe('answered');
  });

  test('whose arguments are not a JSON object are answered and not run', async () => {
    const ran: string[] = [];
    const content = [
      toolUse('a', 'read', 'oops'),
      toolUse('b', 'read', { INVALID_JSON: '{"path":' }),
      toolUse('c', 'read', {}),
    ];
    const model = script(reply(content, 'tool_use'), says('Done.'));
    const { messages } = await start(model, async ({ ctx }) => {
      ran.push(ctx.callId);
      return ok('x');
    }).result;
    expect(ran).toEqual(['c']);
    const results = resultsOf(messages);
    expect(results.get('a')).toMatchObject({ is_error: true });
    expect(JSON.parse(String(results.get('b')?.content))).toMatchObject({ INVALID_JSON: '{"path":' });
    expect(JSON.stringify(messages[1])).toContain('{"INVALID_JSON":"oops"}');
  });

  test('of a toolset are answered as not supported, with the toolset echoed', async () => {
    const content = [{ ...toolUse('a', 'click', {}), toolset_name: 'computer' }];
    const run = start(script(reply(content, 'tool_use'), says('Done.')), async () => {
      throw new Error('must not run');
    });
    const result = resultsOf((await run.result).messages).get('a');
    expect(result).toMatchObject({ is_error: true, toolset_name: 'computer' });
  });

  test('with an id that was used before are answered under an id of their own', async () => {
    const twice = reply([toolUse('a', 'read', { n: 1 }), toolUse('a', 'read', { n: 2 })], 'tool_use');
    const model = script(twice, reply([toolUse('a', 'read', { n: 3 })], 'tool_use'), says('Done.'));
    const { messages } = await start(model).result;
    expect([...resultsOf(messages).keys()]).toEqual(['a', 'a-2', 'a-3']);
    expect(readMessages(messages)).toMatchObject({ state: 'ready' });
  });

  test('an outcome that cannot be told ends the run, and never leaves it hanging', async () => {
    const broken = { kind: 'ok', isError: false, raw: null } as unknown as Outcome;
    const result = await start(script(calls('read')), async () => broken).result;
    expect(result).toMatchObject({ end: 'failed', error: { code: 'loop_broke' } });
    expect(readMessages(result.messages)).toMatchObject({ state: 'ready' });
  });

  test('a dispatcher that throws costs its call, not the run', async () => {
    const run = start(script(calls('read'), says('Done.')), async () => {
      throw new Error('boom');
    });
    const result = await run.result;
    expect(result.end).toBe('answered');
    expect(resultsOf(result.messages).get('read_0')).toMatchObject({ is_error: true });
  });

  test('tell their progress', async () => {
    const run = start(script(calls('read'), says('Done.')), async ({ ctx }) => {
      ctx.onEvent?.({ kind: 'progress', raw: rawFrom({ progress: 1 }) });
      return ok('x');
    });
    expect(await drain(run)).toContainEqual(
      expect.objectContaining({ type: 'progress', callId: 'read_0', kind: 'progress' }),
    );
  });
});

describe('blocks that are not ours', () => {
  const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };

  test('go back as they came and are never dispatched', async () => {
    const content = [
      thinking,
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      { type: 'something_new', data: 1 },
      { ...toolUse('a', 'read'), caller: { type: 'direct' } },
    ];
    const model = script(reply(content, 'tool_use'), says('Done.'));
    const ran: string[] = [];
    const { messages } = await start(model, async ({ name }) => {
      ran.push(name);
      return ok('x');
    }).result;
    expect(messages[1]).toEqual({ role: 'assistant', content });
    expect(ran).toEqual(['read']);
  });

  test('a turn in which the provider is still at work gets results only, and the same tools', async () => {
    const content = [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      toolUse('a', 'read'),
    ];
    const model = script(reply(content, 'tool_use'), says('Done.'));
    let isNew = true;
    await start(model, undefined, {
      newTools: () => {
        if (!isNew) return [];
        isNew = false;
        return [{ name: 'late', effect: 'read', entry: { name: 'late' } }];
      },
    }).result;
    const [, second = {}] = model.requests;
    expect(second.tools).toEqual(model.requests[0]?.tools);
    expect((second.messages as Json[]).at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'a', content: 'done' }],
    });
  });

  test('tools that come during a run are added at the end', async () => {
    const model = script(calls('read'), says('Done.'));
    let isNew = true;
    await start(model, undefined, {
      newTools: () => {
        if (!isNew) return [];
        isNew = false;
        return [{ name: 'late', effect: 'read', entry: { name: 'late' } }];
      },
    }).result;
    const names = (request: Json | undefined) =>
      ((request as { tools: { name: string }[] }).tools ?? []).map((t) => t.name);
    expect(names(model.requests[0])).toEqual(['read', 'look', 'write']);
    expect(names(model.requests[1])).toEqual(['read', 'look', 'write', 'late']);
  });
});

describe('abort', () => {
  test('before the start asks nothing', async () => {
    const model = script(says('never'));
    const run = start(model, undefined, { signal: AbortSignal.abort() });
    const result = await run.result;
    expect(result.end).toBe('aborted');
    expect(model.requests).toEqual([]);
    expect(readMessages(result.messages)).toMatchObject({ state: 'ready' });
  });

  test('while the model answers cancels the request', async () => {
    const asked = gate<AbortSignal>();
    const model = script(async ({ signal }) => {
      asked.open(signal);
      return new Promise(() => {});
    });
    const run = start(model);
    const signal = await asked.promise;
    run.abort();
    expect((await run.result).end).toBe('aborted');
    expect(signal.aborted).toBe(true);
  });

  test('while a call runs cancels it, waits for it, and answers the rest as not run', async () => {
    const begun = gate();
    const run = start(script(calls('write', 'write')), ({ ctx }) => {
      begun.open();
      return new Promise((resolve) => {
        ctx.signal.addEventListener('abort', () => setImmediate(() => resolve(cancelledOutcome())));
      });
    });
    await begun.promise;
    run.abort('enough');
    const result = await run.result;
    expect(result.end).toBe('aborted');
    const results = resultsOf(result.messages);
    expect(String(results.get('write_0')?.content)).toContain('Cancelled.');
    expect(String(results.get('write_1')?.content)).toContain('not_executed');
    expect(readMessages(result.messages)).toMatchObject({ state: 'ready' });
  });

  test('does not wait for ever for a call that ignores it', async () => {
    const begun = gate();
    const run = start(
      script(calls('write')),
      () => {
        begun.open();
        return new Promise(() => {});
      },
      { graceMs: 1 },
    );
    await begun.promise;
    run.abort();
    const result = await run.result;
    expect(result.end).toBe('aborted');
    expect(String(resultsOf(result.messages).get('write_0')?.content)).toContain('unknown');
  });

  test('through a signal is the same, and after the end it is nothing', async () => {
    const controller = new AbortController();
    const begun = gate();
    const model = script(async () => {
      begun.open();
      return new Promise(() => {});
    });
    const run = start(model, undefined, { signal: controller.signal });
    await begun.promise;
    controller.abort(new Error('closing time'));
    const result = await run.result;
    run.abort();
    expect(await run.result).toBe(result);
    expect(result.end).toBe('aborted');
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('from a listener reaches the calls that begin in the same tick', async () => {
    const signals: AbortSignal[] = [];
    const run = start(
      script(calls('read', 'look')),
      async ({ ctx }) => {
        signals.push(ctx.signal);
        return ctx.signal.aborted ? cancelledOutcome() : ok('ran');
      },
      { onProgress: (event) => event.type === 'call' && run.abort() },
    );
    const result = await run.result;
    expect(result.end).toBe('aborted');
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
  });

  test('is the end of what listeners hear: a call that was given up reports to nobody', async () => {
    const seen: string[] = [];
    const begun = gate();
    let report: () => void = () => {};
    const run = start(
      script(calls('write')),
      ({ ctx }) => {
        report = () => ctx.onEvent?.({ kind: 'log', raw: rawFrom('late') });
        begun.open();
        return new Promise(() => {});
      },
      { graceMs: 1, onProgress: (event) => seen.push(event.type) },
    );
    await begun.promise;
    run.abort();
    await run.result;
    report();
    expect(seen.at(-1)).toBe('end');
  });

  test('leaves a note in a user turn of its own, never in a result', async () => {
    const begun = gate();
    const run = start(script(calls('write')), ({ ctx }) => {
      begun.open();
      return new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve(cancelledOutcome())));
    });
    await begun.promise;
    run.abort();
    const { messages } = await run.result;
    expect(messages.at(-1)).toEqual({ role: 'user', content: expect.stringContaining('the user stopped it') });
    expect(JSON.stringify(messages.at(-2))).not.toContain('Note from');
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

  test('that goes silent is given up', async () => {
    const model = script(() => new Promise(() => {}));
    const result = await start(model, undefined, { modelIdleMs: 1 }).result;
    expect(result).toMatchObject({ end: 'failed', error: { code: 'model_silent' } });
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

describe('limits', () => {
  test('on turns leave the calls of the last reply unrun, and hand off what was tried and what is pending', async () => {
    const model = script(calls('read'), calls('write'), says('never'));
    const ran: string[] = [];
    const run = start(
      model,
      async ({ name }) => {
        ran.push(name);
        return ok('x');
      },
      { config: config({ turns: 2 }) },
    );
    const events = await drain(run);
    const result = await run.result;
    expect(ran).toEqual(['read']);
    expect(result).toMatchObject({
      end: 'limit',
      turns: 2,
      handoff: {
        reason: 'turns',
        tried: [{ callId: 'read_0', name: 'read', outcome: 'ok' }],
        pending: [{ kind: 'call', callId: 'write_0', name: 'write', args: { at: 0 } }],
      },
    });
    expect(events.at(-2)).toMatchObject({ type: 'limit', limit: 'turns' });
    expect(readMessages(result.messages)).toMatchObject({ state: 'ready' });
  });

  test('on tool calls run what is within them', async () => {
    const ran: string[] = [];
    const run = start(
      script(calls('read', 'read', 'read')),
      async ({ ctx }) => {
        ran.push(ctx.callId);
        return ok('x');
      },
      { config: config({ toolCalls: 2 }) },
    );
    const result = await run.result;
    expect(ran).toEqual(['read_0', 'read_1']);
    expect(result).toMatchObject({ end: 'limit', calls: 2, handoff: { reason: 'toolCalls' } });
  });

  test.each([
    ['tokens', { tokens: 15 }],
    ['costUsd', { costUsd: 0.5 }],
  ])('on %s end the run before the next request', async (name, limits) => {
    const model = script(calls('write'), says('never'));
    const run = start(model, undefined, { config: config(limits, { costOf: () => 0.5 }) });
    expect(await run.result).toMatchObject({ end: 'limit', calls: 0, handoff: { reason: name } });
    expect(model.requests).toHaveLength(1);
  });

  test('on time cancel what runs', async () => {
    const run = start(
      script(calls('write')),
      ({ ctx }) => new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve(cancelledOutcome()))),
      { config: config({ ms: 1 }) },
    );
    const result = await run.result;
    expect(result).toMatchObject({ end: 'limit', handoff: { reason: 'ms' } });
    expect(readMessages(result.messages)).toMatchObject({ state: 'ready' });
  });

  test('stop a model that repeats the same failing call, and no other', async () => {
    const again = (id: string, input: Json) => reply([toolUse(id, 'write', input)], 'tool_use');
    const model = script(
      again('a', { x: 1, y: 2 }),
      again('b', { y: 2, x: 1 }),
      again('c', { x: 1, y: 2 }),
      says('never'),
    );
    const result = await start(model, async () => failedOutcome()).result;
    expect(result).toMatchObject({ end: 'limit', calls: 3, handoff: { reason: 'identicalFailures' } });
    const other = script(again('a', { x: 1 }), again('b', { x: 2 }), again('c', { x: 3 }), says('Gave up.'));
    expect(await start(other, async () => failedOutcome()).result).toMatchObject({ end: 'answered' });
  });

  test('count a call that fails several times in one reply once: the model had not seen it fail', async () => {
    const same = (id: string) => toolUse(id, 'read', { x: 1 });
    const model = script(reply([same('a'), same('b'), same('c')], 'tool_use'), says('Gave up.'));
    expect(await start(model, async () => failedOutcome()).result).toMatchObject({ end: 'answered', calls: 3 });
  });

  test('forget a failure once the same call has succeeded', async () => {
    const again = (id: string) => reply([toolUse(id, 'write', { x: 1 })], 'tool_use');
    const outcomes = [failedOutcome(), failedOutcome(), ok('x'), failedOutcome(), failedOutcome()];
    const model = script(again('a'), again('b'), again('c'), again('d'), again('e'), says('Done.'));
    expect(await start(model, async () => outcomes.shift() ?? ok('x')).result).toMatchObject({ end: 'answered' });
  });

  test('a hand-off names the approvals that nobody has given', async () => {
    const run = start(
      script(calls('write'), calls('write')),
      async () => ({ kind: 'parked', approval: 'ap_1', reasons: [] }),
      { config: config({ turns: 2 }) },
    );
    expect((await run.result).handoff?.pending).toContainEqual({
      kind: 'approval',
      callId: 'write_0',
      name: 'write',
      approval: 'ap_1',
    });
  });

  test('on pauses cap a model that only asks to be sent back', async () => {
    const paused = reply([{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }], 'pause_turn');
    const model = script(paused, paused, paused, paused);
    const result = await start(model, undefined, { config: config({ pauses: 2 }) }).result;
    expect(result).toMatchObject({ end: 'limit', handoff: { reason: 'pauses' } });
    expect(model.requests).toHaveLength(3);
    expect(JSON.stringify(result.messages)).not.toContain('server_tool_use');
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

  test('without words is sent back to the model', async () => {
    const model = script(reply([toolUse('q', 'ask_user', {})], 'tool_use'), says('Sorry.'));
    const result = await start(model, undefined, { config: config({}, { askTool: 'ask_user' }) }).result;
    expect(result).toMatchObject({ end: 'answered', text: 'Sorry.' });
  });
});
