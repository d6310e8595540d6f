import { describe, expect, test } from 'vitest';
import type { Json, JsonObject, LoopEvent, TraceEvent } from '../contracts/index.ts';
import { checkMessagesRequest } from '../testing/index.ts';
import { config, drain, loopTool, ok, reply, resultsOf, says, script, start, toolUse } from './fixtures.ts';
import { replay } from './replay.ts';
import { journalConfig } from './resume/journal-config.ts';
import type { LoopTool } from './state.ts';

const LATER: LoopTool = {
  ...loopTool('later', 'read'),
  deferred: true,
  entry: { name: 'later', description: 'Later.', input_schema: { type: 'object' }, defer_loading: true },
};
const FIXED = config({}, { tools: [loopTool('read', 'read'), LATER] });

async function play(...replies: JsonObject[]) {
  const model = script(...replies);
  const journal: TraceEvent[] = [];
  const run = start(model, async ({ name }) => ok(`${name} ran`), {
    config: FIXED,
    begun: { type: 'begin', conversation: 'c1', model: 'scripted', config: journalConfig(FIXED) },
    onEvent: (event: LoopEvent) => void journal.push(JSON.parse(JSON.stringify(event)) as LoopEvent),
  });
  const events = await drain(run);
  const result = await run.result;
  expect((await replay(journal)).messages).toEqual(result.messages);
  const deferred = model.requests.map(({ tools }) =>
    (tools as JsonObject[]).map(({ name, defer_loading }) => `${String(name)} ${defer_loading === true}`),
  );
  return { model, result, deferred, loaded: events.filter(({ type }) => type === 'loaded') };
}

/** The last user message of a request, as text. */
const lastOf = (request: JsonObject | undefined) => JSON.stringify(((request?.messages ?? []) as Json[]).at(-1));

const NOT_YET = ['read false', 'later true'];
const NOW = ['read false', 'later false'];

describe('a deferred tool', () => {
  test('that is called without having been found runs, is loaded from then on, and the model is told so once', async () => {
    const { model, result, deferred, loaded } = await play(
      reply([toolUse('a', 'later')], 'tool_use'),
      reply([toolUse('b', 'later')], 'tool_use'),
      says('Done.'),
    );
    expect(resultsOf(result.messages).get('a')).toMatchObject({ content: 'later ran' });
    expect(deferred).toEqual([NOT_YET, NOW, NOW]);
    expect(lastOf(model.requests[1])).toContain('you called later without having searched for it');
    expect(lastOf(model.requests[2])).not.toContain('without having searched');
    expect(loaded).toEqual([{ type: 'loaded', name: 'later' }]);
    for (const request of model.requests) expect(checkMessagesRequest(request)).toEqual([]);
  });

  test('that the search of the provider or of the program found is not loaded a second time', async () => {
    const reference = { type: 'tool_reference', tool_name: 'later' };
    const searched = [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'tool_search_tool_regex', input: { query: 'later' } },
      {
        type: 'tool_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: { type: 'tool_search_tool_search_result', tool_references: [reference] },
      },
    ];
    const found = await play(reply([...searched, toolUse('a', 'later')], 'tool_use'), says('Done.'));
    expect(found.deferred).toEqual([NOT_YET, NOT_YET]);
    expect(found.loaded).toEqual([]);
  });

  test('keeps its entry as it is while the provider is in the middle of a turn', async () => {
    const searching = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
    const done = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
    const { model, deferred } = await play(
      reply([searching, toolUse('a', 'later')], 'tool_use'),
      reply([done, toolUse('b', 'read')], 'tool_use'),
      says('Done.'),
    );
    expect(deferred).toEqual([NOT_YET, NOT_YET, NOW]);
    expect(lastOf(model.requests[1])).not.toContain('without having searched');
    expect(lastOf(model.requests[2])).toContain('without having searched');
  });

  test('that is another tool, or a member of a toolset with its name, is left as it is', async () => {
    const member = { ...toolUse('a', 'later'), toolset_name: 'computer' };
    const { deferred } = await play(reply([member, toolUse('b', 'read')], 'tool_use'), says('Done.'));
    expect(deferred).toEqual([NOT_YET, NOT_YET]);
  });
});
