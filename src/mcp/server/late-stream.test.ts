import { expect, test } from 'vitest';
import { streamWhenLate } from './late-stream.ts';

function later() {
  let resolve: (response: Response) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const answer = new Promise<Response>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  return { answer, resolve, reject };
}

const message = '{"jsonrpc":"2.0","id":1,"result":{"text":"a\\nb"}}';

test('an answer in time is passed on as it is', async () => {
  const response = Response.json({}, { status: 404 });
  expect(await streamWhenLate(Promise.resolve(response), 1000)).toBe(response);
});

test('a late one has its headers at once, and is the event of a stream', async () => {
  const { answer, resolve } = later();
  const response = await streamWhenLate(answer, 1);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toMatch(/^:/);
  resolve(new Response(message, { headers: { 'content-type': 'application/json' } }));
  expect((await reader?.read())?.value).toBe(`event: message\ndata: ${message}\n\n`);
  expect((await reader?.read())?.done).toBe(true);
});

test('a late one that is a stream itself is passed on', async () => {
  const { answer, resolve } = later();
  const response = await streamWhenLate(answer, 1);
  const events = 'event: message\ndata: {"progress":1}\n\nevent: message\ndata: {}\n\n';
  resolve(new Response(events, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }));
  expect((await response.text()).endsWith(events)).toBe(true);
});

test('a failure ends the stream as one, and a reader that leaves is no fault', async () => {
  const failed = later();
  const response = await streamWhenLate(failed.answer, 1);
  failed.reject(new Error('broken'));
  await expect(response.text()).rejects.toThrow('broken');
  const left = later();
  const unread = await streamWhenLate(left.answer, 1);
  await unread.body?.cancel();
  left.resolve(new Response(message));
  await left.answer;
});
