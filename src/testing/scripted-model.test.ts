import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../contracts/index.ts';
import { isBridleError } from '../tools/index.ts';
import { scriptedModel } from './index.ts';

const ctx = { signal: new AbortController().signal };
const hello: JsonObject = { messages: [{ role: 'user', content: 'Hi' }] };

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  return isBridleError(error) ? error.code : undefined;
}

test('the script is played in order, and the requests are kept as they were', async () => {
  const model = scriptedModel([{ text: 'Looking.', calls: [{ name: 'get_order', input: { id: 'O-1' } }] }, 'Done.']);
  const request = structuredClone(hello);
  const first = await model.respond(request, ctx);
  expect(first.stopReason).toBe('tool_use');
  expect((first.message as JsonObject).content).toEqual([
    { type: 'text', text: 'Looking.' },
    { type: 'tool_use', id: 'toolu_script_1_1', name: 'get_order', input: { id: 'O-1' } },
  ]);
  request.messages = [];
  const second = await model.respond(hello, ctx);
  expect([second.stopReason, model.remaining()]).toEqual(['end_turn', 0]);
  expect(model.requests).toEqual([hello, hello]);
  expect(await codeOf(model.respond(hello, ctx))).toBe('script_ended');
});

test('replies are streamed in pieces', async () => {
  const events: JsonObject[] = [];
  const waits: Json[] = [];
  const model = scriptedModel([{ text: 'A sentence of some length.', waits: [{ ms: 5, reason: 'busy' }] }]);
  await model.respond(hello, {
    ...ctx,
    onDelta: (event) => void events.push(event as JsonObject),
    onWait: (wait) => void waits.push({ ...wait }),
  });
  expect(events.filter((event) => event.type === 'content_block_delta')).toHaveLength(2);
  expect(events.at(-1)).toEqual({ type: 'message_stop' });
  expect(waits).toEqual([{ ms: 5, reason: 'busy' }]);
});

test('a turn can look at the request, or fail', async () => {
  const broken = new Error('down');
  const model = scriptedModel([(request, turn) => `${turn}: ${JSON.stringify(request)}`, broken, () => broken]);
  const reply = await model.respond(hello, ctx);
  expect(JSON.stringify(reply.message)).toContain('1: {');
  await expect(model.respond(hello, ctx)).rejects.toBe(broken);
  await expect(model.respond(hello, ctx)).rejects.toBe(broken);
});

test('a request that the API would refuse is refused with every reason, and plays no turn', async () => {
  const model = scriptedModel(['x']);
  const request = {
    messages: [
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: [] },
    ],
  };
  const error: unknown = await model.respond(request, ctx).catch((reason: unknown) => reason);
  expect(isBridleError(error) && error.code).toBe('model_request_refused');
  expect(String(error)).toMatch(/first message.*\n.*non-empty content/);
  expect([model.remaining(), model.requests.length]).toEqual([1, 0]);
});

test('the check can be left out', async () => {
  const model = scriptedModel(['x'], { check: false });
  expect((await model.respond({ messages: [] }, ctx)).stopReason).toBe('end_turn');
});

test('an aborted signal ends it, before or while it streams', async () => {
  const stop = new AbortController();
  const model = scriptedModel(['one', 'two']);
  const streaming = model.respond(hello, { signal: stop.signal, onDelta: () => stop.abort() });
  expect(await codeOf(streaming)).toBe('model_aborted');
  expect(await codeOf(model.respond(hello, { signal: stop.signal }))).toBe('model_aborted');
});
