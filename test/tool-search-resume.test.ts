/**
 * A run that searches for tools is the same again from its journal, at whatever line it breaks off, and from a cassette.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createAgent, replay } from '../src/agent/index.ts';
import { playCassette, recordCassette } from '../src/cassette/index.ts';
import type { Json, JsonObject, Model } from '../src/contracts/index.ts';
import { readTraceLine, traceLine } from '../src/dispatch/trace-lines.ts';
import { checkMessagesRequest } from '../src/testing/index.ts';
import { defineTool } from '../src/tools/index.ts';
import { memoryJournal } from './helpers/resume-world.ts';

const read = (name: string, description: string, deferLoading = true) =>
  defineTool(
    { name, description, input: { type: 'object', properties: {} }, effect: 'read', deferLoading },
    () => name,
  );
const TOOLS = [
  read('say_hello', 'Says hello.', false),
  read('book_flight', 'Books a flight.'),
  read('send_email', 'Sends an email.'),
];

/** Says what comes next from what was said alone, so that it goes on in another process. */
function searcher(id: string, requests: JsonObject[]): Model {
  const steps: readonly [string, Json][] = [
    ['find_tools', { query: 'book a flight' }],
    ['find_tools', { query: 'send an email' }],
    ['book_flight', {}],
    ['send_email', {}],
  ];
  return {
    id,
    async respond(request) {
      const body = structuredClone(request) as JsonObject;
      requests.push(body);
      const done = JSON.stringify(body.messages).split('"type":"tool_result"').length - 1;
      const [name, input] = steps[done] ?? [];
      const content: Json[] =
        name === undefined || input === undefined
          ? [{ type: 'text', text: 'Done.' }]
          : [{ type: 'tool_use', id: `toolu_${done}`, name, input }];
      const stopReason = name === undefined ? 'end_turn' : 'tool_use';
      return {
        message: { role: 'assistant', content, stop_reason: stopReason },
        stopReason,
        usage: { input_tokens: 1, output_tokens: 1 },
      };
    },
  };
}

const agentOf = (model: Model) =>
  createAgent({ model, tools: TOOLS, permissions: { allow: ['say_hello', 'book_flight', 'send_email'] } });

test.each(['claude-opus-5-5', 'some-model'])('%s gets the same requests after any line of the journal', async (id) => {
  const whole: JsonObject[] = [];
  const { lines, journal } = memoryJournal(traceLine, readTraceLine);
  const agent = await agentOf(searcher(id, whole));
  const result = await agent.run('Book it and tell them.', { trace: journal, conversation: 'c1' }).result;
  await agent.close();
  expect(result.end).toBe('answered');
  expect((await replay(journal.events())).messages).toEqual(result.messages);
  const byLength = new Map(whole.map((request) => [(request.messages as Json[]).length, request]));
  expect(byLength.size).toBe(5);
  for (let kept = 2; kept < lines.length; kept += 1) {
    const again: JsonObject[] = [];
    const begun = memoryJournal(traceLine, readTraceLine, lines.slice(0, kept));
    if (!begun.journal.events().some(({ type }) => type === 'input')) continue;
    const other = await agentOf(searcher(id, again));
    const ended = await other.resume(begun.journal).result;
    await other.close();
    expect(ended.messages).toEqual(result.messages);
    for (const request of again) {
      expect(request).toEqual(byLength.get((request.messages as Json[]).length));
      if (id.startsWith('claude')) expect(checkMessagesRequest({ model: id, ...request })).toEqual([]);
    }
  }
});

test('a cassette of it plays equal', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'bridle-search-')), 'run.jsonl');
  const tape = await recordCassette(file, { model: 'claude-opus-5-5', conversation: 'c1' });
  const agent = await agentOf(tape.model(searcher('claude-opus-5-5', [])));
  const { messages } = await agent.run('Book it.', { conversation: 'c1' }).result;
  await agent.close();
  await tape.close();
  const player = await playCassette(file);
  const other = await agentOf(player.model());
  const again = await other.run('Book it.', { conversation: 'c1' }).result;
  await other.close();
  expect(player.divergence()).toBeUndefined();
  expect(again.messages).toEqual(messages);
});
