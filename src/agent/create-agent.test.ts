import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Asker, Json, LoopEvent, Policy } from '../contracts/index.ts';
import { memoryRecorder } from '../dispatch/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool, functionSource, isBridleError } from '../tools/index.ts';
import type { AgentOptions } from './agent-options.ts';
import { createAgent } from './create-agent.ts';
import type { RunEvent } from './events.ts';
import { drain, resultsOf } from './fixtures.ts';
import { UNTRUSTED_CONTENT_NOTICE } from './system-prompt.ts';

const getOrder = defineTool(
  {
    name: 'get_order',
    description: 'Looks up an order by its number.',
    input: z.object({ order: z.string() }),
    annotations: { readOnlyHint: true },
  },
  ({ order }) => ({ order, status: 'shipped' }),
);

function refundTool(refunded: string[] = []) {
  return defineTool(
    { name: 'refund', description: 'Refunds an order.', input: z.object({ order: z.string() }) },
    ({ order }) => {
      refunded.push(order);
      return { refunded: order };
    },
  );
}

const callOrder = { calls: [{ name: 'get_order', input: { order: 'O-1' } }] };
const callRefund = { calls: [{ name: 'refund', input: { order: 'O-1' } }] };

async function codeOf(options: AgentOptions): Promise<string> {
  try {
    await createAgent(options);
  } catch (error) {
    return isBridleError(error) ? error.code : String(error);
  }
  return 'no error';
}

describe('createAgent', () => {
  test('a signal gives up on a source that hangs, and its tools are missing with the reason', async () => {
    const stop = new AbortController();
    const hanging = { ...functionSource([]), list: () => new Promise<never>(() => setImmediate(() => stop.abort())) };
    const model = scriptedModel([]);
    const agent = await createAgent({ model, tools: [getOrder], sources: [hanging], signal: stop.signal });
    expect(agent.tools().map(({ ref }) => ref.name)).toEqual(['get_order']);
    expect(agent.catalog.problems()).toHaveLength(1);
  });

  test('wires tools, rules and model into a run', async () => {
    const recorder = memoryRecorder();
    const model = scriptedModel([callOrder, 'It has been shipped.']);
    const agent = await createAgent({ model, tools: [getOrder], permissions: { allow: ['get_order'] }, recorder });
    const result = await agent.run('Where is O-1?').result;
    expect(result).toMatchObject({ end: 'answered', text: 'It has been shipped.', turns: 2, calls: 1 });
    expect(JSON.stringify(result.messages[2])).toContain('shipped');
    expect(recorder.outcomes).toHaveLength(1);
    expect(recorder.outcomes[0]).toMatchObject({ name: 'get_order', who: { agent: 'agent', via: 'library' } });
    await agent.close();
  });

  test('without a rule nothing runs, and the model and the developer read how to allow it', async () => {
    const refunded: string[] = [];
    const model = scriptedModel([callRefund, 'I may not.']);
    const agent = await createAgent({ model, tools: [refundTool(refunded)] });
    const { messages } = await agent.run('Refund O-1.').result;
    expect(refunded).toEqual([]);
    const [result] = [...resultsOf(messages).values()];
    expect(result).toMatchObject({ is_error: true });
    expect(String(JSON.stringify(result?.content))).toContain("permissions: { allow: ['refund'] }");
  });

  test('shows each question and its answer among the events', async () => {
    const asker: Asker = { ask: async () => ({ answer: 'allow', by: 'ann' }) };
    const refunded: string[] = [];
    const model = scriptedModel([callRefund, 'Refunded.']);
    const agent = await createAgent({ model, tools: [refundTool(refunded)], asker });
    const events = await drain(agent.run('Refund O-1.'));
    expect(refunded).toEqual(['O-1']);
    expect(events.filter((event) => ['call', 'asked', 'decision', 'outcome'].includes(event.type))).toMatchObject([
      { type: 'call', name: 'refund' },
      { type: 'asked', name: 'refund', args: { order: 'O-1' } },
      { type: 'decision', answer: 'allow', by: 'ann' },
      { type: 'outcome', name: 'refund', outcome: { kind: 'ok' } },
    ]);
  });

  test('a run that is stopped while a question stands runs nothing, and the asker learns of it', async () => {
    const refunded: string[] = [];
    let isWithdrawn = false;
    const asker: Asker = {
      ask: ({ signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            isWithdrawn = true;
          });
        }),
    };
    const model = scriptedModel([callRefund]);
    const agent = await createAgent({ model, tools: [refundTool(refunded)], asker });
    const run = agent.run('Refund O-1.');
    for await (const event of run) if (event.type === 'asked') run.abort();
    const result = await run.result;
    expect(result.end).toBe('aborted');
    expect(isWithdrawn).toBe(true);
    expect(refunded).toEqual([]);
    expect(JSON.stringify([...resultsOf(result.messages).values()])).toContain('not_executed');
  });

  test('does not show the model what it may not call', async () => {
    const model = scriptedModel(['Hello.']);
    const agent = await createAgent({ model, tools: [getOrder, refundTool()], permissions: { deny: ['refund'] } });
    await agent.run('Hi.').result;
    expect(JSON.stringify(model.requests[0]?.tools)).not.toContain('refund');
    expect(agent.tools().map((tool) => tool.ref.name)).toEqual(['get_order']);
  });

  test('says by default that material from outside does not give orders; the sentence can be replaced or left out', async () => {
    const systems: (Json | undefined)[] = [];
    for (const options of [
      { system: 'You help in a shop.' },
      { system: 'You help in a shop.', untrustedContentNotice: 'Mind the gap.' },
      { untrustedContentNotice: false },
    ] satisfies Partial<AgentOptions>[]) {
      const model = scriptedModel(['Hello.']);
      await (await createAgent({ model, ...options })).run('Hi.').result;
      systems.push(model.requests[0]?.system);
    }
    expect(systems).toEqual([
      `You help in a shop.\n\n${UNTRUSTED_CONTENT_NOTICE}`,
      'You help in a shop.\n\nMind the gap.',
      undefined,
    ]);
  });

  test('a forced tool is forced once, and then the model is free', async () => {
    const model = scriptedModel([callOrder, 'Shipped.']);
    const agent = await createAgent({
      model,
      tools: [getOrder],
      permissions: { allow: ['get_order'] },
      toolChoice: { first: { type: 'tool', name: 'get_order' } },
    });
    await agent.run('Where is O-1?').result;
    expect(model.requests.map((request) => request.tool_choice)).toEqual([
      { type: 'tool', name: 'get_order' },
      undefined,
    ]);
  });

  test('a result that was too long can be read on in, by a tool that comes with it', async () => {
    const long = defineTool(
      { name: 'long', description: 'Gives a long text.', input: z.object({}), annotations: { readOnlyHint: true } },
      () => `${'x'.repeat(30_000)}the end`,
    );
    const names = (request: Json | undefined) => {
      const { tools = [] } = request as { tools?: { name: string }[] };
      return tools.map((tool) => tool.name);
    };
    const model = scriptedModel([
      { calls: [{ name: 'long' }] },
      (request) => {
        const [handle = ''] = /res_[0-9a-f]+/.exec(JSON.stringify(request)) ?? [];
        return { calls: [{ name: 'read_result', input: { result: handle, offset: 29_000 } }] };
      },
      'Read.',
      'Still there.',
    ]);
    const agent = await createAgent({
      model,
      tools: [long],
      permissions: { allow: ['long'] },
      callLimits: { maxResultChars: 5_000 },
    });
    const chat = agent.conversation();
    const { messages } = await chat.run('Read it all.').result;
    expect(JSON.stringify(messages.at(-2))).toContain('the end');
    await chat.run('And again?').result;
    expect(model.requests.map(names)).toEqual([
      ['long'],
      ['long', 'read_result'],
      ['long', 'read_result'],
      ['long', 'read_result'],
    ]);
  });

  test('writes the loop and the calls to the trace, in order', async () => {
    const lines: string[] = [];
    const trace = {
      intent: async () => {},
      outcome: () => lines.push('call'),
      event: (event: LoopEvent) => lines.push(event.type),
      end: (how: string) => lines.push(`end ${how}`),
    };
    const model = scriptedModel([callOrder, 'Shipped.']);
    const agent = await createAgent({ model, tools: [getOrder], permissions: { allow: ['get_order'] } });
    await agent.run('Where is O-1?', { trace }).result;
    expect(lines).toEqual(['begin', 'input', 'model', 'intent', 'call', 'outcome', 'model', 'end answered']);
  });

  test('tells each event to its listeners', async () => {
    const seen: RunEvent[] = [];
    const agent = await createAgent({ model: scriptedModel(['Hello.']), onProgress: (event) => seen.push(event) });
    const run = agent.run('Hi.');
    await run.result;
    expect(seen.map((event) => event.type).at(-1)).toBe('end');
  });

  test('offers the tool for questions when asked to, and ends with the question', async () => {
    const model = scriptedModel([{ calls: [{ name: 'ask_user', input: { question: 'Which order?' } }] }, 'Thanks.']);
    const agent = await createAgent({ model, tools: [getOrder], askUser: true });
    const chat = agent.conversation();
    expect(await chat.run('Where is my order?').result).toMatchObject({ end: 'asked', text: 'Which order?', calls: 0 });
    expect(await chat.run('O-1').result).toMatchObject({ end: 'answered', text: 'Thanks.' });
  });

  test('takes a source that cannot be listed as having no tools, and says so', async () => {
    const source = {
      ...functionSource([]),
      list: async () => {
        throw new Error('connection refused');
      },
    };
    const agent = await createAgent({ model: scriptedModel(['Hello.']), sources: [source], tools: [getOrder] });
    expect(agent.tools()).toHaveLength(1);
    expect(JSON.stringify(agent.catalog.problems())).toContain('connection refused');
  });

  test('says at once what is wrong with its options', async () => {
    const model = scriptedModel([]);
    expect(await codeOf({ model: 'no-such-model' })).toBe('model_unknown');
    expect(await codeOf({ model, permissions: { allow: ['mcp__*'] } })).toBe('permissions_invalid');
    expect(await codeOf({ model, limits: { turns: 0 } })).toBe('limits_invalid');
    expect(await codeOf({ model, limits: { costUsd: 1 } })).toBe('cost_unknown');
    expect(await codeOf({ model, toolChoice: { type: 'tool', name: 'nope' } })).toBe('tool_choice_unknown');
    const tool = defineTool({ name: 'ask_user', description: 'Mine.', input: z.object({}) }, () => 'x');
    expect(await codeOf({ model, tools: [tool], askUser: true })).toBe('tool_name_taken');
  });

  test('an ask rule for the reading tool holds as for any other', async () => {
    const asked: string[] = [];
    const asker: Asker = {
      ask: async ({ tool }) => {
        asked.push(tool.ref.name);
        return { answer: 'deny', by: 'ann' };
      },
    };
    const model = scriptedModel([{ calls: [{ name: 'read_result', input: { result: 'res_1' } }] }, 'No.']);
    const agent = await createAgent({ model, permissions: { ask: ['read_result'] }, asker });
    await agent.run('Go.').result;
    expect(asked).toEqual(['read_result']);
  });

  test('passes a policy of the caller the identity it was given, whatever the model says', async () => {
    const seen: unknown[] = [];
    const decision = { effect: 'allow', reasons: [], policyVersion: '1' } as const;
    const policy: Policy = {
      view: () => decision,
      decide: (who) => {
        seen.push(who);
        return decision;
      },
    };
    const agent = await createAgent({
      name: 'support',
      user: 'ann',
      via: 'terminal',
      model: scriptedModel([callOrder, 'Shipped.']),
      tools: [getOrder],
      policy,
    });
    await agent.run('Where is O-1? I am bob.').result;
    expect(seen).toEqual([{ agent: 'support', user: 'ann', via: 'terminal' }]);
  });
});

describe('going on with a conversation', () => {
  test('each run begins where the last one ended', async () => {
    const model = scriptedModel(['I am well.', 'As I said.']);
    const agent = await createAgent({ model });
    const chat = agent.conversation();
    await chat.run('How are you?').result;
    await chat.run('How?').result;
    expect(model.requests[1]?.messages).toEqual([
      { role: 'user', content: 'How are you?' },
      { role: 'assistant', content: [{ type: 'text', text: 'I am well.' }] },
      { role: 'user', content: 'How?' },
    ]);
    expect(chat.messages).toHaveLength(4);
  });

  test('an earlier result is enough to go on from', async () => {
    const model = scriptedModel(['One.', 'Two.']);
    const agent = await createAgent({ model });
    const { messages, conversation } = await agent.run('Count.').result;
    const result = await agent.run('Go on.', { messages, conversation }).result;
    expect(result).toMatchObject({ text: 'Two.', conversation });
    expect(result.messages).toHaveLength(4);
  });

  test('a run that met its limit goes on without another input', async () => {
    const model = scriptedModel([callOrder, 'Shipped.']);
    const agent = await createAgent({ model, tools: [getOrder], permissions: { allow: ['get_order'] } });
    const first = await agent.run('Where is O-1?', { limits: { turns: 1 } }).result;
    expect(first.end).toBe('limit');
    const second = await agent.run([], { messages: first.messages }).result;
    expect(second).toMatchObject({ end: 'answered', text: 'Shipped.' });
  });

  test('two runs at once in one conversation are refused', async () => {
    const agent = await createAgent({ model: scriptedModel(['One.', 'Two.']) });
    const chat = agent.conversation();
    const first = chat.run('Count.');
    expect(() => chat.run('Again.')).toThrow('goes on in the same conversation');
    await first.result;
    expect((await chat.run('Again.').result).text).toBe('Two.');
  });

  test('messages that the API would refuse, and an empty input, end the run before it begins', async () => {
    const agent = await createAgent({ model: scriptedModel([]) });
    const open: Json[] = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'x', input: {} }] },
    ];
    const failed = await agent.run('And?', { messages: open }).result;
    expect(failed).toMatchObject({ end: 'failed', error: { code: 'messages_invalid' }, messages: open });
    expect(failed.error?.message).toContain('calls without results: a');
    expect((await agent.run(' ').result).error?.code).toBe('input_empty');
    expect((await agent.run([{ type: 'tool_result', tool_use_id: 'a' }]).result).error?.code).toBe('input_invalid');
  });

  test('closing stops what runs and refuses what comes', async () => {
    const model = scriptedModel([() => new Promise(() => {})]);
    const agent = await createAgent({ model });
    const run = agent.run('Wait.');
    await agent.close();
    expect((await run.result).end).toBe('aborted');
    expect((await agent.run('More.').result).error?.code).toBe('agent_closed');
  });
});
