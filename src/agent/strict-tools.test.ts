import { describe, expect, test } from 'vitest';
import type { JsonObject, Source } from '../contracts/index.ts';
import { checkMessagesRequest } from '../testing/index.ts';
import { defineTool, functionSource } from '../tools/index.ts';
import type { AgentOptions } from './agent-options.ts';
import { createAgent } from './create-agent.ts';
import { reply, says, script, toolUse } from './fixtures.ts';

function tool(name: string, more: { readonly strict?: boolean; readonly deferLoading?: boolean } = {}, optional = 0) {
  const properties = Object.fromEntries(Array.from({ length: optional }, (_, n) => [`p${n}`, { type: 'string' }]));
  return defineTool(
    { name, description: 'Does it.', input: { type: 'object', properties }, effect: 'read', ...more },
    () => 'done',
  );
}

const many = (count: number, more: { readonly strict?: boolean } = {}) =>
  Array.from({ length: count }, (_, n) => tool(`t${n}`, more));

/** Names of the strict tools of each request; each request is one that the API takes. */
function strictIn(requests: readonly JsonObject[]): string[][] {
  return requests.map((request) => {
    expect(checkMessagesRequest({ model: 'claude-sonnet-5-5', ...request })).toEqual([]);
    const tools = Array.isArray(request.tools) ? (request.tools as JsonObject[]) : [];
    return tools.flatMap(({ name, strict }) => (strict === true ? [String(name)] : []));
  });
}

async function play(options: Partial<AgentOptions>, ...replies: JsonObject[]) {
  const { id: _, ...scripted } = script(...replies);
  const model = { id: 'claude-sonnet-5-5', respond: scripted.respond };
  const agent = await createAgent({ model, permissions: { allow: ['grow'] }, ...options });
  const run = agent.run('Do it.');
  const events: string[] = [];
  for await (const event of run) if (event.type === 'notice') events.push(event.notice.code);
  return { agent, result: await run.result, events, strict: strictIn(scripted.requests), requests: scripted.requests };
}

describe('strict', () => {
  test('by default those are strict that ask for it, as many as a request takes; who did not fit is said', async () => {
    const { strict, result, events } = await play(
      { tools: [...many(22, { strict: true }), tool('plain')] },
      says('Hi.'),
    );
    expect(strict).toEqual([Array.from({ length: 20 }, (_, n) => `t${n}`)]);
    expect(events).toEqual(['strict_limits']);
    expect(result.notices?.[0]?.text).toMatch(/"t20": .*"t21": .*in this order: 1\. /);
  });

  test('auto takes as many as there is room for, off takes none', async () => {
    const tools = [tool('big', {}, 20), tool('small', {}, 5), tool('marked', { strict: true })];
    expect((await play({ tools, strict: 'auto' }, says('Hi.'))).strict).toEqual([['small', 'marked']]);
    const off = await play({ tools, strict: 'off' }, says('Hi.'));
    expect(off.strict).toEqual([[]]);
    expect(off.result.notices).toMatchObject([{ code: 'strict_impossible', text: expect.stringContaining('is off') }]);
    expect(off.agent.strictTools().map(({ name, strictness }) => [name, strictness])).toEqual([
      ['big', 'loose'],
      ['small', 'loose'],
      ['marked', 'loose'],
    ]);
    await expect(createAgent({ model: 'offline', strict: 'on' as 'off' })).rejects.toMatchObject({
      code: 'strict_invalid',
    });
  });

  test('the schema of the answer takes of the same limits', async () => {
    const properties = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`q${n}`, { type: 'string' }]));
    const output = { schema: { type: 'object' as const, properties, additionalProperties: false } };
    const tools = [tool('a', { strict: true }, 3), tool('b', { strict: true }, 4)];
    const { strict } = await play({ tools, output }, says('{}'));
    expect(strict).toEqual([['a']]);
    expect((await play({ tools }, says('Hi.'))).strict).toEqual([['a', 'b']]);
  });

  test('deferred tools count as well, and members of toolsets never are', async () => {
    const tools = [...many(20), tool('late', { strict: true, deferLoading: true })];
    const { strict } = await play({ tools, strict: 'auto' }, says('Hi.'));
    expect(strict[0]).toHaveLength(20);
    expect(strict[0]).toContain('late');
  });

  test('a tool that comes during a run changes no other, and is strict where there is room', async () => {
    let listed = functionSource(many(19));
    let tell: (() => void) | undefined;
    const source: Source = {
      server: null,
      list: (signal) => listed.list(signal),
      call: (...args) => listed.call(...args),
      onChange(told) {
        tell = told;
        return () => {};
      },
    };
    const grow = defineTool({ name: 'grow', description: 'More.', input: { type: 'object', properties: {} } }, () => {
      listed = functionSource([tool('aaa'), ...many(19), tool('zzz', { strict: true })]);
      tell?.();
      return 'grown';
    });
    const asks = reply([toolUse('1', 'grow')], 'tool_use');
    const { strict, requests, agent } = await play(
      { tools: [grow], sources: [source], strict: 'auto' },
      asks,
      says('Hi.'),
    );
    const before = ['grow', ...Array.from({ length: 19 }, (_, n) => `t${n}`)];
    expect(strict).toEqual([before, before]);
    const tools = (at: number) => (requests[at]?.tools ?? []) as JsonObject[];
    expect(tools(1).map(({ name }) => name)).toEqual(expect.arrayContaining(['aaa', 'zzz']));
    const same = (all: JsonObject[]) => all.filter(({ name }) => before.includes(String(name)));
    expect(JSON.stringify(same(tools(1)))).toBe(JSON.stringify(same(tools(0))));
    // The next run goes on with what was chosen, though one that asks for it is there now.
    const chosen = agent.strictTools().filter(({ strictness }) => strictness !== 'loose');
    expect(chosen.map(({ name }) => name)).toEqual(before);
  });

  test('what a run sent stays chosen in the next one', async () => {
    const scripted = script(says('One.'), says('Two.'));
    const model = { id: 'claude-sonnet-5-5', respond: scripted.respond };
    const agent = await createAgent({ model, tools: many(25), strict: 'auto', permissions: { allow: ['grow'] } });
    const conversation = agent.conversation();
    await conversation.run('One?').result;
    await conversation.run('Two?').result;
    const [first, second] = strictIn(scripted.requests);
    expect(second).toEqual(first);
    expect(first).toHaveLength(20);
  });
});
