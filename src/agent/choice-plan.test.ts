import { describe, expect, test } from 'vitest';
import type { Json, JsonObject, Model } from '../contracts/index.ts';
import { anthropicModel } from '../models/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { BridleError, defineTool } from '../tools/index.ts';
import { type AgentOptions, createAgent, type RunEvent } from './index.ts';

const step = (name: string) =>
  defineTool(
    { name, description: `Does ${name}.`, input: { type: 'object', properties: { at: { type: 'integer' } } } },
    () => 'done',
  );
const tools = [step('extract'), step('enrich')];
const permissions = { allow: ['extract', 'enrich'] };
const call = (name: string) => ({ calls: [{ name, input: { at: 1 } }] });

/** The script of a model under another name: what is refused goes by that. */
function named(id: string, script: Parameters<typeof scriptedModel>[0], more: Partial<Model> = {}) {
  const model = scriptedModel(script);
  const requests: JsonObject[] = [];
  return {
    id,
    requests,
    respond(request: Json, ctx: Parameters<Model['respond']>[1]) {
      requests.push(request as JsonObject);
      return model.respond({ ...(request as JsonObject), model: id }, ctx);
    },
    ...more,
  } satisfies Model & { requests: JsonObject[] };
}

const choices = ({ requests }: { readonly requests: readonly Json[] }) =>
  requests.map((request) => (request as JsonObject).tool_choice);

async function codeOf(make: Promise<unknown>): Promise<string> {
  return make.then(
    () => 'none',
    (error: unknown) => (error instanceof BridleError ? `${error.code}: ${error.hint}` : String(error)),
  );
}

const agentWith = (options: Partial<AgentOptions>) =>
  createAgent({ model: scriptedModel([]), tools, permissions, ...options });

describe('toolChoice', () => {
  test('a plan is gone through turn by turn, and then the model is free', async () => {
    const model = scriptedModel([call('extract'), call('enrich'), call('enrich'), 'Done.']);
    const agent = await agentWith({
      model,
      toolChoice: { first: [{ type: 'tool', name: 'extract' }, 'any'], after: 'auto' },
    });
    const { end, notices } = await agent.run('Go.').result;
    expect([end, notices]).toEqual(['answered', undefined]);
    expect(choices(model)).toEqual([{ type: 'tool', name: 'extract' }, { type: 'any' }, undefined, undefined]);
  });

  test('one choice holds on every turn', async () => {
    const model = scriptedModel([call('extract'), 'Done.', 'Not a call.']);
    const agent = await agentWith({ model, toolChoice: { type: 'auto', disable_parallel_tool_use: true } });
    await agent.run('Go.').result;
    expect(choices(model)).toEqual([
      { type: 'auto', disable_parallel_tool_use: true },
      { type: 'auto', disable_parallel_tool_use: true },
    ]);
    await agent.run('Go.', { toolChoice: 'none' }).result;
    expect(choices(model).at(-1)).toEqual({ type: 'none' });
  });

  test('the last turn that the limit allows can be kept for words', async () => {
    const model = scriptedModel([call('extract'), call('enrich'), 'What there is.']);
    const agent = await agentWith({ model, limits: { turns: 3 }, toolChoice: { first: 'any', last: 'none' } });
    const { end, text } = await agent.run('Go.').result;
    expect([end, text]).toEqual(['answered', 'What there is.']);
    expect(choices(model)).toEqual([{ type: 'any' }, undefined, { type: 'none' }]);
  });

  test('a reply that is sent back, and one that is asked for with more room, belong to the same turn', async () => {
    const paused = {
      content: [
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      ],
      stop_reason: 'pause_turn',
    };
    const model: Model & { requests: JsonObject[] } = {
      id: 'paused',
      requests: [],
      async respond(request) {
        this.requests.push(request as JsonObject);
        const replies: JsonObject[] = [
          { content: [{ type: 'text', text: 'Cut' }], stop_reason: 'max_tokens' },
          paused,
          { content: [{ type: 'tool_use', id: 'a', name: 'extract', input: {} }], stop_reason: 'tool_use' },
          { content: [{ type: 'text', text: 'Done.' }], stop_reason: 'end_turn' },
        ];
        const reply = replies[this.requests.length - 1] ?? {};
        const message = { role: 'assistant', ...reply };
        return { message, stopReason: String(reply.stop_reason), usage: { input_tokens: 1, output_tokens: 1 } };
      },
    };
    const agent = await agentWith({ model, toolChoice: { first: { type: 'tool', name: 'extract' } } });
    expect((await agent.run('Go.').result).end).toBe('answered');
    const forced = { type: 'tool', name: 'extract' };
    expect(choices(model)).toEqual([forced, forced, forced, undefined]);
  });

  test.each([
    ['a forced choice alone', 'any'],
    ['a tool alone', { type: 'tool', name: 'extract' }],
    ['a plan that forces to its end', { first: 'auto', after: 'any' }],
  ] as const)('%s would never end, and the refusal names the plan', async (_, toolChoice) => {
    const expected = /^tool_choice_never_ends: .*toolChoice: \{ first: …, after: 'auto' \}/;
    expect(await codeOf(agentWith({ toolChoice }))).toMatch(expected);
    const agent = await agentWith({});
    expect((await agent.run('Go.', { toolChoice }).result).error?.code).toBe('tool_choice_never_ends');
  });

  test('a run of one turn may be forced', async () => {
    const model = scriptedModel([call('extract')]);
    const agent = await agentWith({ model, limits: { turns: 1 }, toolChoice: 'any' });
    expect((await agent.run('Go.').result).end).toBe('limit');
    expect(choices(model)).toEqual([{ type: 'any' }]);
  });

  test('a model that is made to force a call in every reply is refused where it is made', () => {
    const make = () => anthropicModel('claude-opus-4-8', { request: { tool_choice: { type: 'any' } } });
    expect(make).toThrowError(expect.objectContaining({ code: 'tool_choice_never_ends' }));
    expect(() => anthropicModel('claude-opus-4-8', { request: { tool_choice: { type: 'none' } } })).not.toThrow();
  });

  test('what is no choice, and a tool that nobody has, are told at once', async () => {
    expect(await codeOf(agentWith({ toolChoice: { first: 'some' as 'any' } }))).toMatch(/^tool_choice_invalid/);
    const first = [{ type: 'tool', name: 'constructor' }] as const;
    expect(await codeOf(agentWith({ toolChoice: { first } }))).toMatch(/^tool_choice_unknown.*extract, enrich/);
  });
});

describe('a model that refuses forced calls', () => {
  test.each([
    'claude-opus-5-5',
    'claude-fable-5-1',
    'claude-mythos-5-1',
    'claude-sonnet-5-5',
    'anthropic/claude-opus-5-5',
  ])('%s is asked in words beside the input, and it is said', async (id) => {
    const model = named(id, [call('extract'), 'Done.']);
    const events: RunEvent[] = [];
    const agent = await agentWith({
      model,
      toolChoice: { first: { type: 'tool', name: 'extract' } },
      onProgress: (event) => events.push(event),
    });
    const { end, notices } = await agent.run('Go.').result;
    expect(end).toBe('answered');
    expect(choices(model)).toEqual([{ type: 'auto' }, undefined]);
    expect(model.requests[0]?.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Go.' },
          { type: 'text', text: 'Call the tool extract before you answer.' },
        ],
      },
    ]);
    expect(notices).toEqual([expect.objectContaining({ code: 'tool_choice_in_words' })]);
    expect(notices?.[0]?.text).toContain(`"extract" on turn 1, but ${id} refuses a forced call`);
    expect(events.filter((event) => event.type === 'notice')).toEqual([{ type: 'notice', notice: notices?.[0] }]);
  });

  test('on a later turn the words are a note of their own, after the results', async () => {
    const model = named('claude-opus-5-5', [call('extract'), call('enrich'), 'Done.']);
    const agent = await agentWith({ model, toolChoice: { first: ['auto', { type: 'tool', name: 'enrich' }] } });
    expect((await agent.run('Go.').result).end).toBe('answered');
    expect(JSON.stringify(model.requests[0]?.messages)).not.toContain('before you answer');
    expect(JSON.stringify((model.requests[1]?.messages as Json[] | undefined)?.at(-1))).toContain(
      'Call the tool enrich before',
    );
    expect(JSON.stringify(model.requests[2]?.messages).split('before you answer')).toHaveLength(2);
  });

  test('thinking with a budget is asked in words too', async () => {
    const { cannotForce } = anthropicModel('claude-opus-4-5', {
      request: { thinking: { type: 'enabled', budget_tokens: 1_024 } },
    });
    expect(cannotForce).toContain('thinking');
    expect(anthropicModel('claude-opus-4-5')).not.toHaveProperty('cannotForce');
    const model = named('claude-opus-4-5', ['Done.'], { cannotForce: String(cannotForce) });
    const { notices } = await (await agentWith({ model, toolChoice: { first: 'any' } })).run('Go.').result;
    expect(choices(model)).toEqual([{ type: 'auto' }]);
    expect(notices?.[0]?.text).toContain(cannotForce);
  });

  test('a compaction, and a reply of no tokens, are asked in words too', async () => {
    for (const request of [{ compaction: { type: 'summarize' } }, { max_tokens: 0 }]) {
      const { cannotForce } = anthropicModel('claude-opus-4-5', { request });
      const model = named('claude-opus-4-5', ['Done.'], { cannotForce: String(cannotForce) });
      await (await agentWith({ model, toolChoice: { first: 'any' } })).run('Go.').result;
      expect(choices(model)).toEqual([{ type: 'auto' }]);
    }
  });

  test('a tool that only code may call is asked for in words, whatever the model', async () => {
    const inCode = defineTool(
      {
        name: 'in_code',
        description: 'Is called from code.',
        input: { type: 'object', properties: {} },
        allowedCallers: ['code_execution_20260120'],
      },
      () => 'x',
    );
    const model: Model & { requests: JsonObject[] } = {
      id: 'any-model',
      requests: [],
      async respond(request) {
        this.requests.push(request as JsonObject);
        return {
          message: { role: 'assistant', content: [{ type: 'text', text: 'Hm.' }], stop_reason: 'end_turn' },
          stopReason: 'end_turn',
          usage: { input_tokens: 1, output_tokens: 1 },
        };
      },
    };
    const agent = await createAgent({
      model,
      tools: [inCode],
      providerTools: [{ type: 'code_execution_20260120', name: 'code_execution' }],
      permissions: { allow: ['in_code', 'code_execution'] },
      toolChoice: { first: { type: 'tool', name: 'in_code' } },
    });
    const { notices } = await agent.run('Go.').result;
    expect(choices(model)).toEqual([{ type: 'auto' }]);
    expect(notices?.[0]?.text).toContain("allowedCallers lack 'direct'");
  });
});
