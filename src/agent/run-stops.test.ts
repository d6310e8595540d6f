import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import {
  calls,
  cancelledOutcome,
  config,
  drain,
  failedOutcome,
  gate,
  ok,
  reply,
  resultsOf,
  says,
  script,
  start,
  toolUse,
} from './fixtures.ts';
import { readMessages } from './read-messages.ts';

afterEach(() => {
  vi.useRealTimers();
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

  test('leaves no timer behind that would keep the process alive', async () => {
    vi.useFakeTimers();
    const run = start(script(async () => new Promise(() => {})));
    run.abort();
    expect((await run.result).end).toBe('aborted');
    expect(vi.getTimerCount()).toBe(0);
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

  test('stop a model that repeats a call which the loop itself answers', async () => {
    const broken = (id: string) => reply([toolUse(id, 'write', { INVALID_JSON: '{"x":' })], 'tool_use');
    const model = script(broken('a'), broken('b'), broken('c'), says('never'));
    expect(await start(model).result).toMatchObject({ end: 'limit', handoff: { reason: 'identicalFailures' } });
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
