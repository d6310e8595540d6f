import { describe, expect, test } from 'vitest';
import type { Dispatcher, Json, JsonObject, Model, Outcome } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import type { RunEvent } from './events.ts';
import { effectiveLimits, type RunLimits } from './limits.ts';
import { type RunParts, startRun } from './run.ts';
import { initialState, type LoopConfig, type LoopTool } from './state.ts';

type Reply = JsonObject | Error | ((signal: AbortSignal) => Promise<JsonObject>);

/** Answers with the replies in turn, and keeps the requests. */
function script(...replies: Reply[]): Model & { readonly requests: Json[] } {
  const requests: Json[] = [];
  return {
    id: 'scripted',
    requests,
    async respond(request, { signal }) {
      requests.push(structuredClone(request));
      const reply = replies[requests.length - 1] ?? says('out of script');
      if (reply instanceof Error) throw reply;
      const message = typeof reply === 'function' ? await reply(signal) : reply;
      return { message, stopReason: String(message.stop_reason), usage: { input_tokens: 10, output_tokens: 5 } };
    },
  };
}

function says(text: string, stopReason = 'end_turn'): JsonObject {
  return { role: 'assistant', content: [{ type: 'text', text }], stop_reason: stopReason };
}

function calls(...names: string[]): JsonObject {
  const content = names.map((name, at) => ({ type: 'tool_use', id: `${name}_${at}`, name, input: { at } }));
  return { role: 'assistant', content, stop_reason: 'tool_use' };
}

function ok(text: string): Outcome {
  return { kind: 'ok', raw: rawFrom({ content: [{ type: 'text', text }] }), isError: false, content: text };
}

function tool(name: string, effect: LoopTool['effect'] = 'write'): LoopTool {
  return { name, effect, entry: { name, description: name, input_schema: { type: 'object' } } };
}

const READ = tool('read', 'read');
const WRITE = tool('write');

function config(limits: RunLimits = {}, more: Partial<LoopConfig> = {}): LoopConfig {
  return {
    tools: [READ, WRITE],
    limits: effectiveLimits(limits),
    maxTokens: 100,
    maxTokensRetry: 400,
    parallel: 8,
    ...more,
  };
}

function start(model: Model, call: Dispatcher['call'] = async () => ok('done'), more: Partial<RunParts> = {}) {
  return startRun({
    state: initialState(config()),
    model,
    dispatcher: () => ({ call }),
    who: { agent: 'test', via: 'library' },
    conversation: 'c1',
    content: 'Do it.',
    idleMs: 60_000,
    hardMs: 60_000,
    modelIdleMs: 60_000,
    graceMs: 60_000,
    now: () => 1,
    ...more,
  });
}

async function drain(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

describe('a run', () => {
  test('answers a call and ends with what the model says then', async () => {
    const model = script(calls('read'), says('All done.'));
    const run = start(model, async () => ok('the file'));
    const events = await drain(run);
    const result = await run.result;
    expect(result).toMatchObject({ end: 'answered', text: 'All done.', turns: 2, calls: 1 });
    expect(result.messages).toHaveLength(4);
    expect(result.messages[2]).toEqual({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'read_0', content: 'the file' }],
    });
    expect(events.map((event) => event.type)).toEqual(['message', 'call', 'outcome', 'text', 'message', 'end']);
  });
});
