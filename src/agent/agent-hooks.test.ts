import { describe, expect, test } from 'vitest';
import type { HookRecord, JsonObject } from '../contracts/index.ts';
import type { Hook, HookAnswer, HookEvent } from '../policy/index.ts';
import { defineTool } from '../tools/index.ts';
import type { AgentOptions } from './agent-options.ts';
import { createAgent } from './create-agent.ts';
import type { RunEvent } from './events.ts';
import { calls, reply, says, script, toolUse } from './fixtures.ts';

const pay = defineTool(
  { name: 'pay', description: 'Pays.', input: { type: 'object', properties: { at: { type: 'integer' } } } },
  ({ at }) => `paid ${at}`,
);

function hook(event: HookEvent, run: (input: JsonObject) => HookAnswer | undefined, more: Partial<Hook> = {}): Hook {
  return { event, name: `on ${event}`, run, ...more };
}

function agent(model: ReturnType<typeof script>, hooks: readonly Hook[], more: Partial<AgentOptions> = {}) {
  return createAgent({ model, tools: [pay], permissions: { allow: ['pay'] }, hooks, ...more });
}

const sent = (model: ReturnType<typeof script>, turn: number) => JSON.stringify(model.requests[turn]?.messages);

describe('hooks of an agent', () => {
  test('a call that a PreToolUse hook denies does not run, and its reason reaches the model', async () => {
    const model = script(calls('pay'), says('Sorry.'));
    const one = await agent(model, [hook('PreToolUse', () => ({ permission: 'deny', reason: 'Out of hours.' }))]);
    await one.run('Pay.').result;
    expect(sent(model, 1)).toContain('Out of hours.');
    expect(sent(model, 1)).not.toContain('paid');
  });

  test('arguments that a hook changes are checked, decided on again and used', async () => {
    const model = script(calls('pay'), says('Done.'));
    const one = await agent(model, [hook('PreToolUse', () => ({ updatedInput: { at: 7 } }))]);
    await one.run('Pay.').result;
    expect(sent(model, 1)).toContain('paid 7');
    const bad = script(calls('pay'), says('Done.'));
    const other = await agent(bad, [hook('PreToolUse', () => ({ updatedInput: { at: 'seven' } }))]);
    await other.run('Pay.').result;
    expect(sent(bad, 1)).not.toContain('paid');
    expect(sent(bad, 1)).toContain('/at');
  });

  test('a run that is stopped while a hook looks at its input does not wait for the hook', async () => {
    const model = script(says('Never.'));
    let stop = () => {};
    const never = hook('UserPromptSubmit', () => {
      queueMicrotask(() => stop());
      return new Promise(() => {}) as unknown as HookAnswer;
    });
    const one = await agent(model, [never]);
    const run = one.run('Pay.');
    stop = () => run.abort();
    expect((await run.result).end).toBe('aborted');
    expect(model.requests).toEqual([]);
  });

  test('what a PostToolUse hook says stands beside the result, as a note of the harness', async () => {
    const model = script(calls('pay'), says('Done.'));
    const inputs: JsonObject[] = [];
    const one = await agent(model, [
      hook('PostToolUse', (input) => {
        inputs.push(input);
        return { permission: 'deny', reason: 'Too much.', context: 'The limit is 5.' };
      }),
    ]);
    const { conversation } = await one.run('Pay.').result;
    expect(inputs).toMatchObject([
      { hook_event_name: 'PostToolUse', session_id: conversation, tool_name: 'pay', tool_use_id: 'pay_0' },
    ]);
    expect(JSON.stringify(inputs[0]?.tool_response)).toContain('paid 0');
    const messages = model.requests[1]?.messages as { role: string; content: { type: string; content?: unknown }[] }[];
    const result = messages.flatMap(({ content }) => content).find(({ type }) => type === 'tool_result');
    expect(JSON.stringify(result)).not.toContain('limit');
    expect(sent(model, 1)).toContain('Note from the harness');
    expect(sent(model, 1)).toContain('The limit is 5.');
    expect(sent(model, 1)).toContain('Too much.');
  });

  test('a PostToolUse hook is told what really ran, after a hook or a person changed it', async () => {
    const inputs: JsonObject[] = [];
    const after = hook('PostToolUse', (input) => void inputs.push(input));
    const changed = await agent(script(calls('pay'), says('Done.')), [
      hook('PreToolUse', () => ({ updatedInput: { at: 7 } })),
      after,
    ]);
    await changed.run('Pay.').result;
    const asked = await agent(script(calls('pay'), says('Done.')), [after], {
      permissions: { ask: ['pay'] },
      asker: { ask: async () => ({ answer: 'allow', by: 'person', args: { at: 8 } }) },
    });
    await asked.run('Pay.').result;
    expect(inputs.map(({ tool_input, tool_response }) => [tool_input, JSON.stringify(tool_response)])).toEqual([
      [{ at: 7 }, expect.stringContaining('paid 7')],
      [{ at: 8 }, expect.stringContaining('paid 8')],
    ]);
  });

  test('a call that is answered by an earlier one has not run, and no PostToolUse hook is told of it', async () => {
    const ids: unknown[] = [];
    const order = defineTool(
      {
        name: 'order',
        description: 'Orders.',
        input: { type: 'object', properties: { at: { type: 'integer' } } },
        idempotencyKey: () => 'the same',
      },
      () => 'ordered',
    );
    const again = { id: 'order_again', name: 'order', input: { at: 0 } };
    const model = script(
      calls('order'),
      reply([toolUse(again.id, again.name, again.input)], 'tool_use'),
      says('Done.'),
    );
    const one = await agent(model, [hook('PostToolUse', ({ tool_use_id }) => void ids.push(tool_use_id))], {
      tools: [order],
      permissions: { allow: ['order'] },
    });
    await one.run('Order.').result;
    expect(sent(model, 2)?.split('ordered')).toHaveLength(3);
    expect(ids).toEqual(['order_0']);
  });

  test('a PreToolUse hook can end the run, and the call does not run', async () => {
    let ran = false;
    const refund = defineTool(
      { name: 'refund', description: 'Refunds.', input: { type: 'object', additionalProperties: true } },
      () => {
        ran = true;
        return 'refunded';
      },
    );
    const model = script(calls('refund'), says('never'));
    const one = await agent(model, [hook('PreToolUse', () => ({ stop: 'Out of hours.' }))], {
      tools: [refund],
      permissions: { allow: ['refund'] },
    });
    expect((await one.run('Refund.').result).end).toBe('aborted');
    expect(model.requests).toHaveLength(1);
    expect(ran).toBe(false);
  });

  test('what a PreToolUse hook says to the model stands beside the result, once', async () => {
    const model = script(calls('pay'), says('Done.'));
    const one = await agent(model, [hook('PreToolUse', () => ({ context: 'The shop closes at five.' }))]);
    await one.run('Pay.').result;
    expect(sent(model, 1)?.split('The shop closes at five.')).toHaveLength(2);
    expect(sent(model, 1)).toContain('paid');
  });

  test('whoever watches the agent or one of its runs hears what hooks have to say, and records have each run of a hook', async () => {
    const events = ['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'SessionStart', 'SessionEnd'] as const;
    const heard = { agent: [] as string[], run: [] as string[], other: [] as string[] };
    const listen = (to: string[]) => (event: RunEvent) => void (event.type === 'hook' && to.push(event.text));
    const records: HookRecord[] = [];
    const one = await agent(
      script(calls('pay'), says('Done.'), says('Again.')),
      events.map((event) => hook(event, () => ({ message: event }))),
      {
        onProgress: listen(heard.agent),
        recorder: { intent: async () => {}, outcome: () => {}, hook: (record) => records.push(record) },
      },
    );
    const talk = one.conversation();
    await talk.run('Pay.', { onProgress: listen(heard.run) }).result;
    await talk.run('Go on.', { onProgress: listen(heard.other) }).result;
    await one.close();
    const first = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse'];
    expect(heard.run).toEqual(first);
    expect(heard.other).toEqual(['UserPromptSubmit']);
    expect(heard.agent).toEqual([...first, 'UserPromptSubmit', 'SessionEnd']);
    expect(records.map(({ event }) => event)).toEqual(heard.agent);
    expect(records[2]).toMatchObject({ conversation: talk.id, callId: 'pay_0', answer: { message: 'PreToolUse' } });
  });

  test('a PostToolUse hook can end the run', async () => {
    const model = script(calls('pay'), says('never'));
    const one = await agent(model, [hook('PostToolUse', () => ({ stop: 'Enough for today.' }))]);
    expect((await one.run('Pay.').result).end).toBe('aborted');
    expect(model.requests).toHaveLength(1);
  });

  test('a prompt that a hook blocks never reaches the model', async () => {
    const model = script(says('Hello.'));
    const one = await agent(model, [
      hook('UserPromptSubmit', ({ prompt }) =>
        String(prompt).includes('secret') ? { permission: 'deny', reason: 'A secret.' } : { context: 'Branch: main.' },
      ),
    ]);
    const { end, error } = await one.run('My secret is 7.').result;
    expect(end).toBe('failed');
    expect(error).toMatchObject({ code: 'prompt_blocked', message: expect.stringContaining('A secret.') });
    expect(model.requests).toHaveLength(0);
    expect((await one.run('Hello.').result).end).toBe('answered');
    expect(sent(model, 0)).toContain('Branch: main.');
  });

  test('a session begins once in a conversation, and ends when it is told to or the agent closes', async () => {
    const model = script(says('1'), says('2'), says('3'));
    const seen: string[] = [];
    const log = (input: JsonObject) => {
      seen.push(`${input.hook_event_name} ${input.source ?? input.reason}`);
      return undefined;
    };
    const one = await agent(model, [hook('SessionStart', log), hook('SessionEnd', log)]);
    const talk = one.conversation();
    await talk.run('One.').result;
    await talk.run('Two.').result;
    await one.endSession(talk.id, 'clear');
    await one.conversation().run('Three.').result;
    await one.close();
    expect(seen).toEqual(['SessionStart startup', 'SessionEnd clear', 'SessionStart clear', 'SessionEnd other']);
  });

  test('a conversation that is gone on with begins as resumed', async () => {
    const seen: unknown[] = [];
    const one = await agent(script(says('1')), [
      hook('SessionStart', ({ source }) => {
        seen.push(source);
        return { context: 'Welcome back.' };
      }),
    ]);
    const messages = [
      { role: 'user', content: 'Hi.' },
      { role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] },
    ];
    await one.run('And?', { messages }).result;
    expect(seen).toEqual(['resume']);
  });

  test('a conversation that a hook ends does not begin, and is begun anew by the next prompt', async () => {
    const seen: unknown[] = [];
    const one = await agent(script(says('Hi.')), [
      hook('SessionStart', ({ source }) => {
        seen.push(source);
        return seen.length === 1 ? { stop: 'Not on Sundays.' } : undefined;
      }),
    ]);
    const talk = one.conversation();
    const first = await talk.run('Hello.').result;
    expect(first).toMatchObject({ end: 'failed', error: { code: 'prompt_blocked' } });
    expect(first.error?.message).toContain('Not on Sundays.');
    expect((await talk.run('Hello.').result).end).toBe('answered');
    expect(seen).toEqual(['startup', 'startup']);
  });

  test('what a hook objects to where nothing can be blocked is told to whoever watches', async () => {
    const events: RunEvent[] = [];
    const one = await agent(
      script(says('Hi.')),
      [hook('SessionStart', () => ({ permission: 'deny', reason: 'Stale.' }))],
      {
        onProgress: (event) => events.push(event),
      },
    );
    expect((await one.run('Hello.').result).end).toBe('answered');
    expect(events).toContainEqual({ type: 'hook', text: expect.stringContaining('Stale.') });
  });

  test('a hook that fails is told to whoever watches', async () => {
    const events: RunEvent[] = [];
    const failing = hook('PostToolUse', () => {
      throw new Error('no disk');
    });
    const one = await agent(script(calls('pay'), says('Done.')), [failing], {
      onProgress: (event) => events.push(event),
    });
    expect((await one.run('Pay.').result).end).toBe('answered');
    expect(events).toContainEqual({ type: 'hook', text: expect.stringContaining('no disk') });
  });

  test('a run that waits for its hooks can be aborted, and read like any other', async () => {
    const model = script(says('never'));
    const one = await agent(model, [hook('UserPromptSubmit', () => ({}))]);
    const run = one.run('Hello.');
    run.abort('Changed my mind.');
    const types: string[] = [];
    for await (const { type } of run) types.push(type);
    expect((await run.result).end).toBe('aborted');
    expect(types.at(-1)).toBe('end');
  });
});

describe('a question of a server', () => {
  const ask = defineTool(
    { name: 'ask', description: 'Asks.', input: { type: 'object', properties: { at: { type: 'integer' } } } },
    async (_, ctx) => {
      const schema = { type: 'object', properties: { pin: { type: 'integer' } }, required: ['pin'] } as const;
      const answer = await ctx.ask('Your pin?', schema);
      return answer.action === 'accept' ? `pin ${answer.content.pin}` : `it said ${answer.action}`;
    },
  );
  const talk = async (answer: HookAnswer) => {
    const model = script(calls('ask'), says('Done.'));
    let asked = 0;
    const one = await agent(model, [hook('Elicitation', () => answer)], {
      tools: [ask],
      permissions: { allow: ['ask'] },
      input: async () => {
        asked += 1;
        return { action: 'accept', content: { pin: 1 } };
      },
    });
    await one.run('Ask.').result;
    return { asked, said: sent(model, 1) };
  };

  test('is answered by a hook without the person', async () => {
    const { asked, said } = await talk({ elicitation: { action: 'accept', content: { pin: 9 } } });
    expect(said).toContain('pin 9');
    expect(asked).toBe(0);
  });

  test('is declined where a hook blocks it', async () => {
    expect(await talk({ permission: 'deny' })).toMatchObject({
      asked: 0,
      said: expect.stringContaining('it said decline'),
    });
  });

  test('goes to the person where no hook answers', async () => {
    expect(await talk({})).toMatchObject({ asked: 1, said: expect.stringContaining('pin 1') });
  });

  test('is not answered with what does not fit it', async () => {
    const { asked, said } = await talk({ elicitation: { action: 'accept', content: { pin: 'x' } } });
    expect(asked).toBe(0);
    expect(said).not.toContain('pin x');
  });
});
