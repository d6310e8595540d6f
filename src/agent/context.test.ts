import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../contracts/index.ts';
import { checkMessagesRequest } from '../testing/index.ts';
import { BridleError } from '../tools/index.ts';
import { type ContextOptions, loopContext } from './context.ts';
import { createAgent } from './create-agent.ts';
import { config, reply, says, script, start, textBlock, toolUse } from './fixtures.ts';
import { forkMessages } from './fork-messages.ts';
import { readMessages } from './read-messages.ts';
import { initialState } from './state.ts';

const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };
const messagesOf = (request: JsonObject | undefined) => request?.messages as JsonObject[];
const textsOf = (messages: readonly Json[]) => JSON.stringify(messages);

/** Runs one after another, each going on from the last; the requests of them all. */
async function runsWith(context: ContextOptions | undefined, ...runs: JsonObject[][]) {
  const model = script(...runs.flat());
  let messages: Json[] = [];
  for (const [at] of runs.entries()) {
    const read = readMessages(messages);
    if ('problem' in read) throw new Error(read.problem);
    const more = context === undefined ? {} : { context: loopContext(context) };
    const run = start(model, undefined, { state: initialState(config({}, more), read), content: `Task ${at}.` });
    messages = (await run.result).messages;
  }
  for (const request of model.requests) expect(checkMessagesRequest(request)).toEqual([]);
  return { requests: model.requests, messages };
}

const twoTurns = (at: number) => [reply([thinking, toolUse(`c${at}`, 'read')], 'tool_use'), says(`Done ${at}.`)];

describe('a conversation of which the last runs are sent', () => {
  test('is cut where a run begins, says so, and is whole in the result', async () => {
    const { requests, messages } = await runsWith({ keepRuns: 2 }, twoTurns(0), twoTurns(1), twoTurns(2));
    const sent = messagesOf(requests.at(-1));
    expect(sent[0]).toMatchObject({ role: 'user', content: expect.stringContaining('left out') });
    expect(sent[1]).toEqual({ role: 'user', content: 'Task 1.' });
    expect(textsOf(sent)).not.toContain('Task 0.');
    expect(textsOf(messages)).toContain('Task 0.');
    // Thinking of the run under way goes back; that of the runs before stood behind what is gone.
    expect(sent.filter(({ content }) => textsOf([content ?? null]).includes('"thinking"'))).toHaveLength(1);
  });

  test('is sent as it is while it is short', async () => {
    const { requests } = await runsWith({ keepRuns: 2 }, twoTurns(0), twoTurns(1));
    const all = await runsWith(undefined, twoTurns(0), twoTurns(1));
    expect(requests).toEqual(all.requests);
  });
});

describe('a conversation that the model summed up', () => {
  test('is sent from the last summary on, which comes first', async () => {
    const summary = { type: 'compaction', content: 'So far: A.', signature: 's' };
    const failed = { type: 'compaction', content: null };
    const { requests, messages } = await runsWith(
      undefined,
      [says('A.')],
      [reply([failed, textBlock('B.')], 'end_turn')],
      [reply([thinking, { ...summary, content: 'Old.' }, textBlock('C.')], 'end_turn')],
      [reply([textBlock('D, '), summary, textBlock('E.')], 'end_turn')],
      [says('F.')],
    );
    expect(messagesOf(requests.at(-1))).toEqual([
      { role: 'assistant', content: [summary, textBlock('E.')] },
      { role: 'user', content: 'Task 4.' },
    ]);
    expect(messagesOf(requests[2])).toHaveLength(5);
    expect(textsOf(messages)).toContain('Task 0.');
  });

  test('keeps calls that stand before the summary in its turn, with their results', async () => {
    const summary = { type: 'compaction', content: 'So far: A.' };
    const content = [textBlock('So'), toolUse('c', 'read'), summary];
    const { requests } = await runsWith(undefined, [reply(content, 'tool_use'), says('Done.')]);
    expect(messagesOf(requests[1])[0]?.content).toEqual([summary, toolUse('c', 'read')]);
  });

  test('in a pause of its own goes on from the summary alone', async () => {
    const summary = { type: 'compaction', content: 'So far: A.' };
    const { requests } = await runsWith({ compact: true }, [reply([summary], 'compaction'), says('Done.')]);
    expect(messagesOf(requests[1])).toEqual([{ role: 'assistant', content: [summary] }]);
  });
});

describe('what the API takes out itself', () => {
  test('is asked for with the betas for it, thinking first', async () => {
    const model = script(says('Done.'));
    const context: ContextOptions = {
      clearThinking: { keep: 2 },
      clearResults: { above: 30_000, keep: 5, atLeast: 5_000, except: ['memory'], inputs: true },
      compact: { above: 60_000, instructions: 'Keep the numbers.' },
    };
    const agent = await createAgent({ model: { ...model, id: 'claude-opus-5-5' }, context });
    await agent.run('Hi').result;
    expect(model.requests[0]).toMatchObject({
      betas: ['context-management-2025-06-27', 'compact-2026-01-12'],
      context_management: {
        edits: [
          { type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 2 } },
          {
            type: 'clear_tool_uses_20250919',
            trigger: { type: 'input_tokens', value: 30_000 },
            keep: { type: 'tool_uses', value: 5 },
            clear_at_least: { type: 'input_tokens', value: 5_000 },
            exclude_tools: ['memory'],
            clear_tool_inputs: true,
          },
          {
            type: 'compact_20260112',
            trigger: { type: 'input_tokens', value: 60_000 },
            instructions: 'Keep the numbers.',
          },
        ],
      },
    });
    expect(checkMessagesRequest({ ...model.requests[0], model: 'claude-opus-5-5' })).toEqual([]);
    await agent.close();
  });

  test('has short forms', () => {
    expect(loopContext({ clearThinking: { keep: 'all' }, clearResults: true, compact: true })).toEqual({
      edits: [
        { type: 'clear_thinking_20251015', keep: 'all' },
        { type: 'clear_tool_uses_20250919' },
        { type: 'compact_20260112' },
      ],
      betas: ['context-management-2025-06-27', 'compact-2026-01-12'],
    });
    expect(loopContext({ keepRuns: 3 })).toEqual({ keepRuns: 3, edits: [], betas: [] });
  });

  test.each<ContextOptions>([
    { keepRuns: 0 },
    { keepRuns: 1.5 },
    { keepRuns: 2, compact: true },
    { clearThinking: { keep: 0 } },
    { clearResults: { above: -1 } },
    { compact: { above: 1_000 } },
  ])('is refused at once when it makes no sense: %j', async (context) => {
    const made = createAgent({ model: script(), context });
    await expect(made).rejects.toThrow(BridleError);
    await expect(made).rejects.toMatchObject({ code: 'context_invalid' });
  });
});

describe('the container in which the provider runs code', () => {
  const inside = (id: string, expires: string) => ({ ...says('Done.'), container: { id, expires_at: expires } });

  test('is named in later requests of the conversation, until it has expired', async () => {
    const model = script(
      { ...reply([toolUse('a', 'nope')], 'tool_use'), container: { id: 'container_1', expires_at: null } },
      inside('container_2', '2999-01-01T00:00:00Z'),
      inside('container_3', '2001-01-01T00:00:00Z'),
      says('Done.'),
    );
    const agent = await createAgent({ model });
    const conversation = agent.conversation();
    const first = await conversation.run('One.').result;
    expect(first.container).toEqual({ id: 'container_2', expiresAt: '2999-01-01T00:00:00Z' });
    await conversation.run('Two.').result;
    await conversation.run('Three.').result;
    expect(model.requests.map(({ container }) => container)).toEqual([
      undefined,
      'container_1',
      'container_2',
      undefined,
    ]);
    await agent.close();
  });
});

describe('the beginning of a conversation', () => {
  const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
  const said: Json[] = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [textBlock('I look.'), toolUse('a', 'read')] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] },
    { role: 'assistant', content: [textBlock('I search.'), search] },
    { role: 'assistant', content: [{ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }] },
    { role: 'user', content: 'And?' },
    { role: 'assistant', content: [textBlock('Well.')] },
  ];

  test.each(said.map((_, at) => at))('up to message %i can be gone on from', (end) => {
    const kept = forkMessages(said, end);
    expect(readMessages(kept)).toMatchObject({ state: 'ready', unfinished: [] });
    expect(checkMessagesRequest({ max_tokens: 1, messages: [...kept, { role: 'user', content: 'On.' }] })).toEqual([]);
  });

  test('leaves out a call that the cut parts from its result, and a search that it parts from what was found', () => {
    expect(forkMessages(said, 2)).toEqual(said.slice(0, 1));
    expect(forkMessages(said, 4)).toEqual([
      ...said.slice(0, 3),
      { role: 'assistant', content: [textBlock('I search.')] },
    ]);
    expect(forkMessages(said)).toEqual(said);
  });
});
