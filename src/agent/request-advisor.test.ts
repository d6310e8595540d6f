import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../contracts/index.ts';
import { checkMessagesRequest } from '../testing/index.ts';
import { config, script, says, start } from './fixtures.ts';
import { readMessages } from './read-messages.ts';
import { initialState, type LoopTool } from './state.ts';

const ADVISOR: LoopTool = {
  name: 'advisor',
  effect: 'read',
  entry: { type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-5-5' },
};
const ADVISED: readonly Json[] = [
  { role: 'user', content: 'Hi' },
  {
    role: 'assistant',
    content: [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'advisor', input: {} },
      { type: 'advisor_tool_result', tool_use_id: 'srvtoolu_1', content: { type: 'advisor_result', text: 'Wait.' } },
    ],
  },
];

async function requestOf(tools: readonly LoopTool[]): Promise<JsonObject> {
  const read = readMessages(ADVISED);
  if ('problem' in read) throw new Error(read.problem);
  const model = script(says('Done.'));
  await start(model, undefined, { state: initialState(config({}, { tools }), read) }).result;
  const request = { ...(model.requests[0] as JsonObject), model: 'claude-opus-5-5' };
  expect(checkMessagesRequest(request)).toEqual([]);
  return request;
}

test('an advisor is declared under its beta, and what it said goes back', async () => {
  const { betas, messages } = await requestOf([ADVISOR]);
  expect(betas).toEqual(['advisor-tool-2026-03-01']);
  expect((messages as Json[]).slice(0, 2)).toEqual(ADVISED);
});

test('what an advisor said that is not there any more is left out', async () => {
  const { betas, messages } = await requestOf(config().tools);
  expect(betas).toBeUndefined();
  expect(JSON.stringify(messages)).not.toContain('advisor_tool_result');
});
