import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json, JsonObject, ListRecord, Model, Recorder, Source, TraceEvent } from '../contracts/index.ts';
import { checkMessagesRequest } from '../testing/index.ts';
import { defineTool, functionSource } from '../tools/index.ts';
import type { AgentOptions } from './agent-options.ts';
import { createAgent } from './create-agent.ts';
import { reply, resultsOf, says, script, toolUse } from './fixtures.ts';
import { replay } from './replay.ts';

const CLAUDE = 'claude-opus-5-5';

function tool(name: string, description: string, deferLoading?: boolean) {
  const input = z.object({ of: z.string().optional().describe('Of what.') });
  return defineTool(
    { name, description, input, effect: 'read', ...(deferLoading !== undefined && { deferLoading }) },
    () => `${name} ran`,
  );
}

const TOOLS = [
  tool('say_hello', 'Greets somebody.'),
  tool('send_email', 'Sends an email to somebody.', true),
  tool('list_emails', 'Lists the emails that came.', true),
  tool('book_flight', 'Books a flight.', true),
];

const journal = () => {
  const events: TraceEvent[] = [];
  return {
    events,
    intent: async () => {},
    outcome: () => {},
    event: (event: TraceEvent) => void events.push(event),
    end: () => {},
  };
};

async function play(id: string, replies: JsonObject[], more: Partial<AgentOptions> = {}, messages: Json[] = []) {
  const scripted = script(...replies);
  const model: Model = { id, respond: scripted.respond };
  const trace = journal();
  const agent = await createAgent({
    model,
    tools: TOOLS,
    permissions: { allow: ['say_hello', 'send_email', 'list_emails', 'book_flight'] },
    trace,
    ...more,
  });
  const result = await agent.run('Do it.', { messages }).result;
  if (messages.length === 0) expect((await replay(trace.events)).messages).toEqual(result.messages);
  const { requests } = scripted;
  if (id === CLAUDE)
    for (const request of requests) expect(checkMessagesRequest({ model: id, ...request })).toEqual([]);
  const names = requests.map(({ tools }) =>
    ((tools ?? []) as JsonObject[]).map(
      ({ name, defer_loading: deferred }) => `${String(name)}${deferred === true ? ' (deferred)' : ''}`,
    ),
  );
  return { requests, result, names, results: resultsOf(result.messages), trace };
}

const FIND = (query: string, id = 's1') => reply([toolUse(id, 'find_tools', { query })], 'tool_use');
const refs = (...names: string[]) => names.map((name) => ({ type: 'tool_reference', tool_name: name }));

describe('a search for tools', () => {
  test('is offered where tools are deferred, and its result refers to what it found', async () => {
    const { names, results, requests } = await play(CLAUDE, [
      FIND('send an email'),
      reply([toolUse('a', 'send_email')], 'tool_use'),
      says('Sent.'),
    ]);
    const declared = [
      'find_tools',
      'say_hello',
      'send_email (deferred)',
      'list_emails (deferred)',
      'book_flight (deferred)',
    ];
    expect(names).toEqual([declared, declared, declared]);
    expect(results.get('s1')).toEqual({
      type: 'tool_result',
      tool_use_id: 's1',
      content: refs('send_email', 'list_emails'),
    });
    expect(results.get('a')?.content).toBe('send_email ran');
    // The same objects in every request, in the same order: what is cached stays cached.
    expect(requests[2]?.tools).toEqual(requests[0]?.tools);
    expect(JSON.stringify(requests[2]?.messages)).not.toContain('without having searched');
  });

  test('appends what it found, for a model that takes no references, in the order found and never reordered', async () => {
    const { names, requests, results } = await play('scripted', [
      FIND('book a flight'),
      FIND('emails that came', 's2'),
      reply([toolUse('a', 'book_flight')], 'tool_use'),
      says('Done.'),
    ]);
    expect(names).toEqual([
      ['find_tools', 'say_hello'],
      ['find_tools', 'say_hello', 'book_flight'],
      ['find_tools', 'say_hello', 'book_flight', 'list_emails', 'send_email'],
      ['find_tools', 'say_hello', 'book_flight', 'list_emails', 'send_email'],
    ]);
    expect(JSON.stringify(requests[1]?.messages)).toContain('Found, and among your tools from here on: book_flight.');
    // The conversation keeps what every model can be told from.
    expect(results.get('s1')?.content).toEqual(refs('book_flight'));
  });

  test('of an earlier run counts in the next one, with another model too', async () => {
    const first = await play('scripted', [FIND('book a flight'), says('There is one.')]);
    const claude = await play(CLAUDE, [says('Yes.')], {}, first.result.messages);
    expect(JSON.stringify(claude.requests[0]?.messages)).toContain('"tool_name":"book_flight"');
    const other = await play('scripted', [says('Yes.')], {}, first.result.messages);
    expect(other.names).toEqual([['find_tools', 'say_hello', 'book_flight']]);
    const whole = await play(
      CLAUDE,
      [says('Yes.')],
      { toolSearch: 'off', tools: [tool('book_flight', 'Books.')] },
      first.result.messages,
    );
    expect(JSON.stringify(whole.requests[0]?.messages)).toContain('among your tools from here on: book_flight');
    const without = await play(CLAUDE, [says('Yes.')], { tools: [TOOLS[0] as never] }, first.result.messages);
    expect(JSON.stringify(without.requests[0]?.messages)).toContain('What was found is not there any more');
  });

  test('that was cut away counts no more: the tool is loaded when it is called all the same', async () => {
    const first = await play(CLAUDE, [FIND('book a flight'), says('There is one.')]);
    const { names, requests } = await play(
      CLAUDE,
      [reply([toolUse('a', 'book_flight')], 'tool_use'), says('Booked.')],
      { context: { keepRuns: 1 } },
      first.result.messages,
    );
    expect(JSON.stringify(requests[0]?.messages)).not.toContain('tool_reference');
    expect(names.map((each) => each.at(-1))).toEqual(['book_flight (deferred)', 'book_flight (deferred)']);
    expect(JSON.stringify(requests[1]?.messages)).toContain('"type":"tool_addition"');
    expect(JSON.stringify(requests[1]?.messages)).toContain('you called book_flight without having searched for it');
  });

  test('finds nothing that may not be seen, in the words of one that finds nothing', async () => {
    const hidden = await play(CLAUDE, [FIND('book a flight'), says('No.')], {
      permissions: { allow: ['say_hello', 'send_email', 'list_emails'], deny: ['book_flight'] },
    });
    const absent = await play(CLAUDE, [FIND('book a flight'), says('No.')], { tools: TOOLS.slice(0, 3) });
    expect(hidden.results.get('s1')).toEqual(absent.results.get('s1'));
    expect(String(hidden.results.get('s1')?.content)).toContain('No tool was found for these words.');
    expect(hidden.names).toEqual(absent.names);
  });

  test('is recorded as one, with the identity and the versions', async () => {
    const lists: ListRecord[] = [];
    const recorder: Recorder = { intent: async () => {}, outcome: () => {}, listed: (list) => void lists.push(list) };
    await play(CLAUDE, [FIND('email'), says('Well.')], { recorder });
    expect(lists.map(({ kind, tools }) => [kind, tools])).toEqual([
      ['list', 4],
      ['search', 3],
    ]);
    expect(lists[1]).toMatchObject({ who: { agent: 'agent' }, catalogVersion: lists[0]?.catalogVersion });
  });

  test('finds among tools whose description is null, as some have it', async () => {
    const bare = { name: 'bare', description: null as never, input_schema: { type: 'object' }, run: () => 'ok' };
    const { results } = await play(CLAUDE, [FIND('send an email'), says('Hi.')], { tools: [...TOOLS, bare] });
    expect(results.get('s1')?.content).toEqual(refs('send_email', 'list_emails'));
    const found = await play(CLAUDE, [FIND('bare'), says('Hi.')], {
      tools: [TOOLS[0] as never, bare],
      toolSearch: { above: 0, keep: 1 },
    });
    expect(found.results.get('s1')?.content).toEqual(refs('bare'));
  });

  test('keeps its results where the provider clears old ones: they load what was found', async () => {
    const { requests } = await play(CLAUDE, [says('Hi.')], { context: { clearResults: { except: ['say_hello'] } } });
    expect(requests[0]?.context_management).toMatchObject({ edits: [{ exclude_tools: ['say_hello', 'find_tools'] }] });
  });

  test('gives at most as many as it is told to', async () => {
    const { results } = await play(CLAUDE, [FIND('emails flight'), says('Well.')], { toolSearch: { results: 1 } });
    expect(results.get('s1')?.content).toHaveLength(1);
  });
});

describe('which tools are deferred', () => {
  test('none is, and nothing is offered, where none is marked', async () => {
    const { names } = await play(CLAUDE, [says('Hi.')], {
      tools: [tool('say_hello', 'Greets.'), tool('x', 'X.', false)],
    });
    expect(names).toEqual([['say_hello', 'x']]);
  });

  test('with figures all but the first, where the definitions are more than that', async () => {
    const tools = [tool('a', 'A.'), tool('b', 'B.', false), tool('c', 'C.'), tool('d', 'D.', true)];
    const permissions = { allow: ['a', 'b', 'c', 'd'] };
    const large = await play(CLAUDE, [says('Hi.')], { tools, permissions, toolSearch: { above: 10, keep: 1 } });
    expect(large.names).toEqual([['find_tools', 'a', 'b', 'c (deferred)', 'd (deferred)']]);
    const small = await play(CLAUDE, [says('Hi.')], { tools, permissions, toolSearch: 'auto' });
    expect(small.names).toEqual([['find_tools', 'a', 'b', 'c', 'd (deferred)']]);
    const forced = await play('claude-sonnet-4-5', [says('Hi.')], {
      tools,
      permissions,
      toolSearch: { above: 10, keep: 0 },
      toolChoice: { first: { type: 'tool', name: 'c' } },
    });
    expect(forced.names).toEqual([['find_tools', 'a (deferred)', 'b', 'c', 'd (deferred)']]);
  });

  test('off passes marks on, but never sends a request whose tools are all deferred', async () => {
    const { names } = await play(CLAUDE, [says('Hi.')], { toolSearch: 'off' });
    expect(names[0]).toContain('send_email (deferred)');
    expect(names[0]).not.toContain('find_tools');
    const all = await play(CLAUDE, [says('Hi.')], { toolSearch: 'off', tools: TOOLS.slice(1) });
    expect(all.names).toEqual([['send_email', 'list_emails', 'book_flight']]);
  });

  test("the provider's own search takes the place of ours, and a rule that hides ours defers nothing", async () => {
    const search = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' };
    const provided = await play(CLAUDE, [says('Hi.')], {
      providerTools: [search],
      permissions: { allow: ['tool_search_tool_bm25', ...TOOLS.map(({ definition }) => definition.ref.name)] },
    });
    expect(provided.names[0]).toEqual([
      'tool_search_tool_bm25',
      'say_hello',
      'send_email (deferred)',
      'list_emails (deferred)',
      'book_flight (deferred)',
    ]);
    const denied = await play(CLAUDE, [says('Hi.')], {
      permissions: { allow: ['say_hello', 'send_email', 'list_emails', 'book_flight'], deny: ['find_tools'] },
    });
    expect(denied.names).toEqual([['say_hello', 'send_email', 'list_emails', 'book_flight']]);
  });

  test('a tool of the name keeps it: the search takes another', async () => {
    const own = tool('find_tools', 'Finds hammers and saws.');
    const { names } = await play(CLAUDE, [says('Hi.')], { tools: [own, ...TOOLS] });
    expect(names[0]?.slice(0, 3)).toEqual(['find_tools_2', 'find_tools', 'say_hello']);
  });

  test('a deferred tool goes without a mark for the cache, which the API refuses on one', async () => {
    const hints = { deferLoading: true, cacheControl: { type: 'ephemeral' } };
    const marked = defineTool({ name: 'marked', description: 'Marked.', input: z.object({}), ...hints }, () => 'ok');
    const { names } = await play(CLAUDE, [says('Hi.')], {
      tools: [TOOLS[0] as never, marked],
      permissions: { allow: ['marked'] },
    });
    expect(names[0]).toContain('marked (deferred)');
  });

  test.each([{ keep: -1 }, { results: 0 }, { above: 1.5 }, 'often'])('%j is refused', async (toolSearch) => {
    await expect(createAgent({ model: 'offline', toolSearch: toolSearch as never })).rejects.toMatchObject({
      code: 'tool_search_invalid',
    });
  });
});

test('what is deferred when a run begins stays so, and can be found, whatever comes and goes before it', async () => {
  const names = ['one', 'two', 'three'];
  const tools = names.map((name) => tool(name, `Does ${name}.`));
  let gone: readonly string[] = [];
  let tell = () => {};
  const given = functionSource(tools);
  const source: Source = {
    ...given,
    list: async (signal) => {
      const { tools: all, setAside } = await given.list(signal);
      return { tools: all.filter(({ ref }) => !gone.includes(ref.name)), setAside };
    },
    onChange(listener) {
      tell = listener;
      return () => {};
    },
    changeDue: () => true,
  };
  const without = (name: string, list: readonly string[]) =>
    defineTool({ name, description: 'Steps.', input: z.object({}), effect: 'read', deferLoading: false }, () => {
      gone = list;
      tell();
      return 'ok';
    });
  const { results, names: declared } = await play(
    CLAUDE,
    [
      reply([toolUse('a', 'step')], 'tool_use'),
      FIND('does three two'),
      reply([toolUse('b', 'back')], 'tool_use'),
      FIND('does one two three', 's2'),
      says('Done.'),
    ],
    {
      tools: [],
      sources: [source, functionSource([without('step', ['one']), without('back', [])])],
      permissions: { allow: [...names, 'step', 'back'] },
      toolSearch: { above: 0, keep: 1 },
    },
  );
  expect(declared[0]).toEqual(['find_tools', 'one', 'two (deferred)', 'three (deferred)', 'step', 'back']);
  expect(results.get('s1')?.content).toEqual(expect.arrayContaining(refs('two', 'three')));
  expect(results.get('s2')?.content).toHaveLength(2);
});
