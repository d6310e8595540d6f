import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json, JsonObject, LoopEvent, Source } from '../contracts/index.ts';
import { checkMessagesRequest } from '../testing/index.ts';
import { defineTool, functionSource } from '../tools/index.ts';
import { loopContext } from './context.ts';
import { createAgent } from './create-agent.ts';
import { loadedEntry } from './deferred-entry.ts';
import { calls, config, loopTool, ok, reply, says, script, start, toolUse } from './fixtures.ts';
import { readMessages } from './read-messages.ts';
import type { RunParts } from './run.ts';
import { initialState, type LoopConfig, type LoopTool } from './state.ts';
import { step } from './step.ts';

const CLAUDE = 'claude-opus-5-5';
const BETA = 'mid-conversation-tool-changes-2026-07-01';
const TELLS: Partial<LoopConfig> = { noteRole: 'system', toolChanges: true };

/** A run in which each call is followed by news of tools. */
async function play(
  news: readonly { readonly tools?: readonly LoopTool[]; readonly gone?: readonly string[] }[],
  replies: JsonObject[],
  more: Partial<LoopConfig> = TELLS,
  parts: Partial<RunParts> = {},
) {
  const model = script(...replies);
  const left = [...news];
  const events: LoopEvent[] = [];
  const run = start(model, async ({ name }) => ok(`${name} ran`), {
    config: config({}, more),
    news: () => ({ tools: [], note: null, ...left.shift() }),
    onEvent: (event) => void events.push(event),
    ...parts,
  });
  const result = await run.result;
  const { requests } = model;
  for (const request of requests) expect(checkMessagesRequest({ model: CLAUDE, ...request })).toEqual([]);
  const tools = requests.map((request) =>
    ((request.tools ?? []) as JsonObject[]).map(
      ({ name, defer_loading: late }) => `${String(name)}${late ? ' (deferred)' : ''}`,
    ),
  );
  return { requests, result, tools, events };
}

const changesIn = (request: JsonObject | undefined) =>
  ((request?.messages ?? []) as JsonObject[]).flatMap(({ role, content }) =>
    role === 'system' && Array.isArray(content)
      ? (content as JsonObject[]).flatMap(({ type, tool }) =>
          tool ? [`${String(type)} ${(tool as JsonObject).name}`] : [],
        )
      : [],
  );

const BASE = ['read', 'look', 'write'];

const LATER: LoopTool = {
  ...loopTool('later', 'read'),
  deferred: true,
  entry: { name: 'later', description: 'Later.', input_schema: { type: 'object' }, defer_loading: true },
};

/** Another run of a conversation. */
function goingOn(messages: readonly Json[], more: Partial<LoopConfig>): Partial<RunParts> {
  const read = readMessages(messages);
  if ('problem' in read) throw new Error(read.problem);
  return { state: initialState(config({}, more), read) };
}

describe('tools that come and go in a run', () => {
  test('are told in a system message, and what is cached of the tools stays as it was', async () => {
    const { tools, requests } = await play(
      [{ tools: [loopTool('late', 'read')] }, { gone: ['look'] }, { tools: [loopTool('look', 'read')] }],
      [
        calls('read'),
        reply([toolUse('b', 'late')], 'tool_use'),
        reply([toolUse('c', 'read')], 'tool_use'),
        says('Done.'),
      ],
    );
    expect(tools).toEqual([BASE, ...Array(3).fill([...BASE, 'late (deferred)'])]);
    expect(requests.map(changesIn)).toEqual([
      [],
      ['tool_addition late'],
      ['tool_addition late', 'tool_removal look'],
      ['tool_addition late', 'tool_removal look', 'tool_addition look'],
    ]);
    expect(requests.map(({ betas }) => betas)).toEqual([undefined, [BETA], [BETA], [BETA]]);
    // Each request begins with the one before.
    for (const [at, { messages }] of requests.entries()) {
      const before = (requests[at - 1]?.messages ?? []) as Json[];
      expect((messages as Json[]).slice(0, before.length)).toEqual(before);
    }
  });

  test('are appended for a model that takes no such message, and what went away stays', async () => {
    const { tools, requests } = await play(
      [{ tools: [loopTool('late', 'read')], gone: ['look'] }],
      [calls('read'), says('Done.')],
      {},
    );
    expect(tools).toEqual([BASE, [...BASE, 'late']]);
    expect(requests.flatMap(changesIn)).toEqual([]);
  });

  test('that came and went between two requests need no word', async () => {
    const { requests } = await play(
      [
        { tools: [loopTool('late', 'read')], gone: ['look'] },
        { gone: ['late'], tools: [loopTool('look', 'read')] },
      ],
      [calls('read', 'read'), says('Done.')],
    );
    expect(requests.flatMap(changesIn)).toEqual([]);
  });

  test('a deferred tool that was called before it was found is added, and the tools stay as they were', async () => {
    const { tools, requests } = await play(
      [],
      [reply([toolUse('a', 'later')], 'tool_use'), reply([toolUse('b', 'later')], 'tool_use'), says('Done.')],
      { ...TELLS, tools: [loopTool('read', 'read'), LATER] },
    );
    expect(tools).toEqual(Array(3).fill(['read', 'later (deferred)']));
    expect(requests.map(changesIn)).toEqual([[], ['tool_addition later'], ['tool_addition later']]);
  });

  test('the first tools of an agent without any join as they are: the API takes no request of deferred ones alone', async () => {
    const { tools } = await play([{ tools: [loopTool('late', 'read')] }], [calls('nope'), says('Done.')], {
      ...TELLS,
      tools: [],
    });
    expect(tools).toEqual([[], ['late']]);
  });

  test('of an earlier run are not told of a tool that is gone, nor to a model that takes no such message', async () => {
    const { result } = await play([{ tools: [loopTool('late', 'read')] }], [calls('read'), says('Done.')]);
    expect(JSON.stringify(result.messages)).toContain('tool_addition');
    const again = (more: Partial<LoopConfig>) => play([], [says('Hi.')], more, goingOn(result.messages, more));
    expect((await again(TELLS)).requests.flatMap(changesIn)).toEqual([]);
    expect(JSON.stringify((await again({})).requests[0]?.messages)).not.toContain('tool_addition');
    const there = { ...TELLS, tools: [...config().tools, loopTool('late', 'read')] };
    const kept = await again(there);
    expect(kept.requests.map(changesIn)).toEqual([['tool_addition late']]);
    expect(kept.tools).toEqual([[...BASE, 'late (deferred)']]);
  });

  test('that went in an earlier run and are there again are told of as there', async () => {
    const { result } = await play([{ gone: ['look'] }], [calls('read'), says('Done.')]);
    const again = await play(
      [{ gone: ['look'] }, { tools: [loopTool('look', 'read')] }],
      [calls('read'), reply([toolUse('y', 'read')], 'tool_use'), says('Hi.')],
      TELLS,
      goingOn(result.messages, TELLS),
    );
    const first = ['tool_removal look', 'tool_addition look'];
    expect(again.requests.map(changesIn)).toEqual([
      first,
      [...first, 'tool_removal look'],
      [...first, 'tool_removal look', 'tool_addition look'],
    ]);
    expect(again.tools).toEqual([BASE, BASE, BASE]);
  });

  test('a deferred tool that was loaded and went stays whole where the call that loaded it is cut away', async () => {
    const tools = [loopTool('read', 'read'), LATER];
    const more = { ...TELLS, tools, context: loopContext({ keepRuns: 2 }) };
    const first = await play([], [reply([toolUse('a', 'later')], 'tool_use'), says('Done.')], {
      ...more,
      toolChanges: false,
    });
    const second = await play(
      [{ gone: ['later'] }],
      [reply([toolUse('b', 'read')], 'tool_use'), says('Done.')],
      more,
      goingOn(first.result.messages, more),
    );
    expect(second.tools).toEqual([
      ['read', 'later'],
      ['read', 'later'],
    ]);
    const third = await play(
      [],
      [reply([toolUse('c', 'later')], 'tool_use'), says('Done.')],
      more,
      goingOn(second.result.messages, more),
    );
    expect(third.tools).toEqual(second.tools);
    expect(third.requests.map(changesIn)).toEqual(Array(2).fill(['tool_removal later', 'tool_addition later']));
  });

  test('a paused reply goes back with a loaded tool as it was, though the tool has gone meanwhile', async () => {
    const tools = [loopTool('read', 'read'), LATER];
    const more = { ...TELLS, tools };
    const first = await play([], [reply([toolUse('a', 'later')], 'tool_use'), says('Done.')], {
      ...more,
      toolChanges: false,
    });
    let state = goingOn(first.result.messages, more).state ?? initialState(config());
    const sent: JsonObject[] = [];
    const feed = (event: LoopEvent) => {
      const next = step(state, event);
      for (const effect of next.effects) if (effect.type === 'model') sent.push(effect.request as JsonObject);
      state = next.state;
    };
    feed({ v: 1, at: 1, type: 'input', content: 'Go on.' });
    feed({ v: 1, at: 2, type: 'edit', detail: { tools: [], gone: ['later'] } });
    const summary: Json = { type: 'compaction', content: 'So far: nothing.' };
    const message = reply([summary], 'pause_turn') as JsonObject;
    feed({ v: 1, at: 3, type: 'model', message, stopReason: 'pause_turn', usage: {} });
    expect(sent.map((request) => request.tools)).toEqual(Array(2).fill([tools[0]?.entry, loadedEntry(LATER.entry)]));
  });
});

test('an agent tells of what a source adds and takes away while a run goes on', async () => {
  const tools = ['look', 'late'].map((name) =>
    defineTool({ name, description: name, input: z.object({}), effect: 'read' }, () => `${name} ran`),
  );
  const [look, late] = tools;
  let now = [look];
  let tell = () => {};
  const given = functionSource(tools.flatMap((tool) => tool ?? []));
  const source: Source = {
    ...given,
    list: async (signal) => {
      const { tools: all, setAside } = await given.list(signal);
      return { tools: all.filter(({ ref }) => now.some((tool) => tool?.definition.ref.name === ref.name)), setAside };
    },
    onChange(listener) {
      tell = listener;
      return () => {};
    },
    changeDue: () => true,
  };
  const step = (next: typeof now) =>
    defineTool({ name: `step_${next.length}`, description: 'Steps.', input: z.object({}), effect: 'read' }, () => {
      now = next;
      tell();
      return 'ok';
    });
  const scripted = script(
    reply([toolUse('a', 'step_1')], 'tool_use'),
    reply([toolUse('b', 'step_0')], 'tool_use'),
    says('Done.'),
  );
  const agent = await createAgent({
    model: { id: CLAUDE, respond: scripted.respond },
    tools: [step([late]), step([])],
    sources: [source],
    permissions: { allow: ['step_1', 'step_0', 'look', 'late'] },
  });
  expect((await agent.run('Go.').result).end).toBe('answered');
  expect(scripted.requests.map(changesIn)).toEqual([
    [],
    ['tool_addition late', 'tool_removal look'],
    ['tool_addition late', 'tool_removal look', 'tool_removal late'],
  ]);
  for (const request of scripted.requests) expect(checkMessagesRequest({ model: CLAUDE, ...request })).toEqual([]);
});
