import { describe, expect, test } from 'vitest';
import type { Json, JsonObject, LoopEvent, Outcome, TraceEvent } from '../contracts/index.ts';
import { memoryRecorder } from '../dispatch/index.ts';
import { checkMessagesRequest } from '../testing/index.ts';
import { defineTool, type ToolsetMember, toolsetSource } from '../tools/index.ts';
import type { RunJournal } from './agent-options.ts';
import { createAgent } from './create-agent.ts';
import { reply, resultsOf, says, script, toolUse } from './fixtures.ts';
import { replay } from './replay.ts';

const DESKTOP = { type: 'computer_toolset_20260801' };

const act = (id: string, name: string, input: Json = {}, toolset = 'computer'): JsonObject => ({
  ...toolUse(id, name, input),
  toolset_name: toolset,
});

/** Of the first request. */
const toolsOf = ([first]: readonly JsonObject[]) => (first?.tools ?? []) as JsonObject[];

/** A computer that notes what is done to it; a click at 13 fails. */
function computer() {
  const done: string[] = [];
  const member = (name: string, effect: ToolsetMember['effect'] = 'write'): ToolsetMember => ({
    effect,
    run(input) {
      if (input.x === 13) throw new Error('Nothing is there.');
      done.push(name);
      return `${name} done`;
    },
  });
  const members = { screenshot: member('screenshot', 'read'), left_click: member('left_click'), type: member('type') };
  return { done, source: toolsetSource({ entry: DESKTOP, members }) };
}

function memoryJournal(): RunJournal & { readonly events: TraceEvent[] } {
  const events: TraceEvent[] = [];
  return {
    ...memoryRecorder(),
    events,
    event: (event: LoopEvent) => void events.push(JSON.parse(JSON.stringify(event)) as LoopEvent),
    end: (how, detail) => void events.push({ v: 1, at: 1, type: 'end', how, detail }),
  };
}

async function play(content: readonly JsonObject[], more: Partial<Parameters<typeof createAgent>[0]> = {}) {
  const { done, source } = computer();
  const model = script(reply([...content], 'tool_use'), says('Done.'));
  const trace = memoryJournal();
  const agent = await createAgent({
    model,
    sources: [source],
    permissions: { allow: ['computer__*', 'other'] },
    trace,
    ...more,
  });
  const result = await agent.run('Do it.').result;
  await agent.close();
  for (const request of model.requests) expect(checkMessagesRequest(request)).toEqual([]);
  return { done, model, result, results: resultsOf(result.messages), events: trace.events };
}

const SKIPPED = 'Not executed: an earlier computer action in this turn failed.';

describe('a toolset', () => {
  test('is one entry of a request, in which what nobody here runs is switched off', async () => {
    const { model } = await play([act('a', 'screenshot')]);
    const [entry, ...rest] = toolsOf(model.requests);
    expect(rest).toEqual([]);
    expect(entry).toMatchObject({ ...DESKTOP, configs: { zoom: { enabled: false }, scroll: { enabled: false } } });
    expect(Object.keys(entry?.configs as JsonObject)).not.toContain('left_click');
    expect(model.requests[1]?.tools).toEqual(model.requests[0]?.tools);
  });

  test('has its members run one by one, in order, and each result names the toolset', async () => {
    const { done, results } = await play([act('a', 'left_click'), act('b', 'type'), act('c', 'screenshot')]);
    expect(done).toEqual(['left_click', 'type', 'screenshot']);
    for (const id of ['a', 'b', 'c']) expect(results.get(id)?.toolset_name).toBe('computer');
    expect(results.get('c')?.content).toBe('screenshot done');
  });

  test('stops at the first member that fails, with the words of the API for the rest; other tools go on', async () => {
    const other = defineTool({ name: 'other', description: 'Another.', input: { type: 'object' } }, () => 'fine');
    const content = [
      act('a', 'screenshot'),
      act('b', 'left_click', { x: 13 }),
      act('c', 'type'),
      toolUse('d', 'other'),
    ];
    const { done, results, result } = await play([...content, act('e', 'screenshot')], { tools: [other] });
    expect(done).toEqual(['screenshot']);
    expect(String(results.get('b')?.content)).toContain('Nothing is there.');
    for (const id of ['c', 'e']) {
      expect(results.get(id)).toEqual({
        type: 'tool_result',
        tool_use_id: id,
        content: SKIPPED,
        is_error: true,
        toolset_name: 'computer',
      });
    }
    expect(results.get('d')).toMatchObject({ content: 'fine' });
    expect(result.calls).toBe(3);
  });

  test('has each member decided by itself: one that is denied stops those after it', async () => {
    const permissions = { allow: ['computer__screenshot', 'computer__type'], ask: ['computer__left_click'] };
    const content = [act('a', 'screenshot'), act('b', 'left_click'), act('c', 'type')];
    const { done, results, result } = await play(content, { permissions });
    expect(done).toEqual(['screenshot']);
    expect(String(results.get('b')?.content)).toContain('"errorCategory":"permission"');
    expect(results.get('c')?.content).toBe(SKIPPED);
    expect(result.handoff).toMatchObject({ reason: 'permission', tried: [{}, { name: 'computer__left_click' }, {}] });
  });

  test('hides what the rules hide, and does not run it when it is called all the same', async () => {
    const permissions = { allow: ['computer__screenshot'], deny: ['computer__left_click'] };
    const { model, done, results } = await play([act('a', 'left_click'), act('b', 'screenshot')], { permissions });
    const [entry] = toolsOf(model.requests);
    expect(entry?.configs).toMatchObject({ left_click: { enabled: false } });
    expect(done).toEqual([]);
    expect(results.get('a')).toMatchObject({ is_error: true, toolset_name: 'computer' });
    expect(results.get('b')?.content).toBe(SKIPPED);
  });

  test('is told from a tool of the same name: the pair says which is meant', async () => {
    const type = defineTool(
      { name: 'type', description: 'Types a letter.', input: { type: 'object' } },
      () => 'a letter',
    );
    const permissions = { allow: ['computer__*', 'type'] };
    const { done, results } = await play([toolUse('a', 'type'), act('b', 'type'), toolUse('c', 'computer__type')], {
      tools: [type],
      permissions,
    });
    expect(done).toEqual(['type']);
    expect(results.get('a')).toMatchObject({ content: 'a letter' });
    expect(results.get('a')?.toolset_name).toBeUndefined();
    expect(results.get('b')).toMatchObject({ content: 'type done', toolset_name: 'computer' });
    expect(results.get('c')).toMatchObject({ is_error: true });
  });

  test('stands in the records under the names that rules know, and a replay gives the same messages', async () => {
    const { events, result } = await play([act('a', 'left_click', { x: 13 }), act('b', 'type')]);
    expect(events.find(({ type }) => type === 'intent')).toMatchObject({
      name: 'computer__left_click',
      toolset: 'computer',
    });
    expect((await replay(events)).messages).toEqual(result.messages);
  });
});

test('for another toolset the API has other words', async () => {
  const run = (): Outcome => {
    throw new Error('No such page.');
  };
  const source = toolsetSource({
    entry: { type: 'browser_toolset_20260801' },
    members: { navigate: { run }, find: { run } },
  });
  const calls = [act('a', 'navigate', {}, 'browser'), act('b', 'find', {}, 'browser')];
  const { results } = await play(calls, { sources: [source], permissions: { allow: ['browser__*'] } });
  expect(results.get('b')?.content).toBe('Not executed: an earlier action in this turn failed.');
});

test('the state of a browser goes to the model as a member of the browser toolset gives it, and from no other tool', async () => {
  const state = { type: 'browser_state', tabs: [{ tab_id: 1, title: 'A', url: 'https://a.example/', active: true }] };
  const run = () => ({ content: [{ type: 'text', text: 'There.' }, state] });
  const members = { navigate: { run } };
  const source = toolsetSource({ entry: { type: 'browser_toolset_20260801' }, members });
  const permissions = { allow: ['browser__*'] };
  const browser = await play([act('a', 'navigate', {}, 'browser')], { sources: [source], permissions });
  expect(browser.results.get('a')?.content).toEqual([{ type: 'text', text: 'There.' }, state]);
  const own = defineTool({ name: 'other', description: 'Another.', input: { type: 'object' } }, run);
  const other = await play([toolUse('a', 'other')], { tools: [own] });
  expect(JSON.stringify(other.results.get('a')?.content)).not.toContain('"type":"browser_state"');
});

test('a toolset that there is not, a member that it does not have, and a choice of a member are refused', async () => {
  const run = () => 'x';
  const made = (type: string, member: string) => () =>
    toolsetSource({ entry: { type }, members: { [member]: { run } } });
  expect(made('bash_20250124', 'run')).toThrow('toolset');
  expect(made('computer_toolset_20260801', 'navigate')).toThrow('has no member "navigate"');
  for (const field of [{ strict: true }, { name: 'x' }, { allowed_callers: ['code_execution_20260120'] }]) {
    const more = () => toolsetSource({ entry: { ...DESKTOP, ...field }, members: {} });
    expect(more).toThrow("which a toolset can't have");
  }
  const { source } = computer();
  const toolChoice = { type: 'tool', name: 'computer__type' } as const;
  const agent = createAgent({ model: script(), sources: [source], toolChoice });
  await expect(agent).rejects.toMatchObject({ code: 'tool_choice_unknown' });
});
