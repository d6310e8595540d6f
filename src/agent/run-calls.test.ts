import { describe, expect, test } from 'vitest';
import type { Json, LoopEvent, Outcome } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import {
  calls,
  config,
  drain,
  failedOutcome,
  gate,
  loopTool,
  ok,
  reply,
  resultsOf,
  says,
  script,
  start,
  toolUse,
} from './fixtures.ts';
import { readMessages } from './read-messages.ts';

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

  test('of a tool that says so run side by side though they write, and one that says not to runs alone', async () => {
    const running = new Set<string>();
    const seen: string[][] = [];
    const tools = [
      { ...loopTool('write'), sideBySide: true },
      { ...loopTool('read', 'read'), sideBySide: false },
    ];
    const model = script(calls('write', 'write', 'read', 'read'), says('Done.'));
    const call = async ({ ctx }: { ctx: { callId: string } }) => {
      running.add(ctx.callId);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push([...running]);
      await new Promise((resolve) => setImmediate(resolve));
      running.delete(ctx.callId);
      return ok('x');
    };
    await start(model, call, { config: config({}, { tools }) }).result;
    expect(seen).toEqual([['write_0', 'write_1'], ['write_0', 'write_1'], ['read_2'], ['read_3']]);
  });

  test('say in the run and in its journal which code of the provider made them', async () => {
    const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' };
    const journal: LoopEvent[] = [];
    const model = script(reply([{ ...toolUse('a', 'read'), caller }], 'tool_use'), says('Done.'));
    const run = start(model, async () => ok('x'), { onEvent: (event) => journal.push(event) });
    const events = await drain(run);
    expect(events.find((event) => event.type === 'call')).toMatchObject({ callId: 'a', caller });
    expect(journal.find((event) => event.type === 'intent')).toMatchObject({ callId: 'a', caller });
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
      news: () => {
        if (!isNew) return { tools: [], note: null };
        isNew = false;
        return { tools: [{ name: 'late', effect: 'read', entry: { name: 'late' } }], note: null };
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
      news: () => {
        if (!isNew) return { tools: [], note: null };
        isNew = false;
        return { tools: [{ name: 'late', effect: 'read', entry: { name: 'late' } }], note: null };
      },
    }).result;
    const names = (request: Json | undefined) =>
      ((request as { tools: { name: string }[] }).tools ?? []).map((t) => t.name);
    expect(names(model.requests[0])).toEqual(['read', 'look', 'write']);
    expect(names(model.requests[1])).toEqual(['read', 'look', 'write', 'late']);
  });
});
