/** Rule of this file: every stop reason meets every kind of block, and what comes of it stands in one table. */
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../contracts/index.ts';
import { checkMessagesRequest } from '../testing/index.ts';
import { config, drain, ok, reply, resultsOf, says, script, start, textBlock, toolUse } from './fixtures.ts';
import { readMessages } from './read-messages.ts';
import { initialState } from './state.ts';

const thinking = { type: 'thinking', thinking: 'hm', signature: 'sig==' };
const redacted = { type: 'redacted_thinking', data: 'opaque' };
const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } };
const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
const remote = { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'get', server_name: 's', input: {} };
const code = { type: 'server_tool_use', id: 'srvtoolu_2', name: 'code_execution', input: { code: 'x' } };
const ran = { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_2', content: { type: 'x', stdout: '' } };
const byCode = {
  ...toolUse('c', 'read'),
  caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_2' },
};
const compaction = { type: 'compaction', content: 'So far: nothing.' };
const strange = { type: 'something_new', data: [1, 2] };

/** Each kind of block that a reply may hold, and whether it is a call for the loop. */
const BLOCKS: readonly { readonly name: string; readonly blocks: Json[]; readonly isCall?: true }[] = [
  { name: 'text', blocks: [textBlock('Well.')] },
  { name: 'thinking and text', blocks: [thinking, textBlock('Well.')] },
  { name: 'redacted thinking and text', blocks: [redacted, textBlock('Well.')] },
  { name: 'a search that is done', blocks: [search, found, textBlock('Found.')] },
  { name: 'a search that is under way', blocks: [textBlock('I look.'), search] },
  { name: 'a remote call that is under way', blocks: [remote] },
  { name: 'a summary', blocks: [compaction] },
  { name: 'an unknown block', blocks: [strange, textBlock('Well.')] },
  { name: 'a call', blocks: [textBlock('I look.'), toolUse('c', 'read')], isCall: true },
  { name: 'a call behind thinking', blocks: [thinking, toolUse('c', 'read')], isCall: true },
  { name: 'a call beside a search that is under way', blocks: [search, toolUse('c', 'read')], isCall: true },
  { name: 'a call that code makes', blocks: [code, byCode], isCall: true },
  { name: 'nothing', blocks: [] },
  { name: 'blank text', blocks: [textBlock('  ')] },
];
const PROVIDERS = new Set([
  'a search that is done',
  'a search that is under way',
  'a remote call that is under way',
  'a summary',
]);

/** What a reply of these blocks comes to, by its stop reason: the end, or what is done instead. */
function expected(stop: string, name: string, isCall: boolean): string {
  switch (stop) {
    case 'end_turn':
    case 'stop_sequence':
      return isCall ? `failed: inconsistent_${stop}` : 'answered';
    case 'tool_use':
      return isCall ? 'runs' : 'failed: inconsistent_tool_use';
    case 'pause_turn':
    case 'compaction':
      return !isCall && PROVIDERS.has(name) ? 'sent back' : `failed: inconsistent_${stop}`;
    case 'max_tokens':
      return 'asked again';
    case 'model_context_window_exceeded':
      return 'truncated';
    case 'refusal':
      return 'refused';
    default:
      return 'failed: unknown_stop_reason';
  }
}

/** What the provider goes on with is declared, as the API asks. */
const declared = config(
  {},
  {
    tools: [
      ...config().tools,
      { name: 'web_search', effect: 'read', entry: { type: 'web_search_20250305', name: 'web_search' } },
    ],
  },
);

const STOPS = [
  'end_turn',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'compaction',
  'max_tokens',
  'model_context_window_exceeded',
  'refusal',
  'a_reason_of_tomorrow',
];

describe.each(STOPS)('a reply that stops with %s', (stop) => {
  test.each(BLOCKS)(
    'and holds $name comes to what its reason says, and each request is taken',
    async ({ name, blocks, isCall }) => {
      const model = script(reply(blocks, stop), says('Done.'));
      const given: string[] = [];
      const call = async ({ ctx }: { ctx: { callId: string } }) => {
        given.push(ctx.callId);
        return ok('x');
      };
      const result = await start(model, call, { config: declared }).result;
      const came =
        given.length > 0
          ? 'runs'
          : model.requests.length === 1
            ? [result.end, result.error?.code].filter(Boolean).join(': ')
            : model.requests[1]?.max_tokens === 400
              ? 'asked again'
              : 'sent back';
      expect(came).toBe(expected(stop, name, isCall ?? false));
      for (const request of model.requests) expect(checkMessagesRequest(request)).toEqual([]);
      // What was said stands there as it came, and can be gone on from.
      const read = readMessages(result.messages);
      if ('problem' in read) throw new Error(read.problem);
      const next = script(says('And on.'));
      await start(next, undefined, { state: initialState(declared, read) }).result;
      expect(checkMessagesRequest(next.requests[0] ?? null)).toEqual([]);
    },
  );
});

describe('a turn that paused', () => {
  test('goes back with the same tools and no note, and white space at its end is cut off', async () => {
    const paused = reply([search, found, textBlock('So far: \n')], 'pause_turn');
    const model = script(paused, says('Done.'));
    const run = start(model);
    const { messages, turns } = await run.result;
    expect(turns).toBe(2);
    expect(checkMessagesRequest(model.requests[1] ?? null)).toEqual([]);
    expect(model.requests[1]?.tools).toEqual(model.requests[0]?.tools);
    expect(messages[1]).toEqual({ role: 'assistant', content: [search, found, textBlock('So far:')] });
  });

  test('and says nothing ends the run after one request', async () => {
    const model = script(reply([], 'pause_turn'), says('never'));
    const result = await start(model).result;
    expect(result).toMatchObject({ end: 'failed', error: { code: 'inconsistent_pause_turn' } });
    expect(model.requests).toHaveLength(1);
  });
});

describe('thinking', () => {
  test('goes back through a loop of calls as the same bytes, signatures included', async () => {
    const first = [thinking, redacted, toolUse('a', 'read')];
    const second = [{ ...thinking, signature: 'other==' }, textBlock('Next.'), toolUse('b', 'read')];
    const model = script(reply(first, 'tool_use'), reply(second, 'tool_use'), says('Done.'));
    await start(model, async () => ok('x')).result;
    const sent = model.requests[2]?.messages as JsonObject[];
    expect(JSON.stringify(sent[1]?.content)).toBe(JSON.stringify(first));
    expect(JSON.stringify(sent[3]?.content)).toBe(JSON.stringify(second));
  });
});

describe('a call that code of the provider makes', () => {
  test.each([
    ['with its code in the same turn', [code, byCode]],
    ['with its code in an earlier turn, or none', [byCode]],
  ])('%s is answered by results alone; notes wait until the code is done', async (_, blocks) => {
    const model = script(reply(blocks, 'tool_use'), reply([ran, toolUse('d', 'read')], 'tool_use'), says('Done.'));
    let noted = false;
    const run = start(model, async () => ok('x'), {
      news: () => {
        const note = noted ? null : 'NOTE';
        noted = true;
        return { tools: [], note };
      },
    });
    await run.result;
    const afterCode = model.requests[1]?.messages as JsonObject[];
    expect(afterCode.at(-1)).toMatchObject({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c' }] });
    expect(JSON.stringify(model.requests[2]?.messages)).toContain('NOTE');
    for (const request of model.requests) expect(checkMessagesRequest(request)).toEqual([]);
  });

  test('of a caller that the API would not take back is the model’s own', async () => {
    const odd = { ...toolUse('a', 'read'), caller: { type: 'somebody' } };
    const model = script(reply([odd], 'tool_use'), says('Done.'));
    const events = await drain(start(model, async () => ok('x')));
    expect(events.find(({ type }) => type === 'call')).not.toHaveProperty('caller');
    const sent = model.requests[1]?.messages as JsonObject[];
    expect(sent[1]?.content).toEqual([toolUse('a', 'read')]);
    expect(resultsOf(sent).size).toBe(1);
  });
});
