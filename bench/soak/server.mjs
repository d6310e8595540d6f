/**
 * The server of `bench/soak-serve.mjs`: one of everything that Bridle serves, over HTTP and over a Unix socket. Says what
 * it holds whenever it is asked: what is left of memory after a collection, open handles, timers.
 */
import { createHook } from 'node:async_hooks';

// Before anything else is loaded, so that no timer is missed.
const timers = new Set();
createHook({
  init: (id, type) => void (type === 'Timeout' && timers.add(id)),
  destroy: (id) => void timers.delete(id),
}).enable();

const { contentSource, defineResource, defineTool, stateHandles, toolHost } = await import('bridle');
const { serve } = await import('bridle/server');

const TEXT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const PART = { type: 'object', properties: { part: { type: 'string' } }, required: ['part'] };
const carts = stateHandles({ ttlMs: 1_000 });
let version = 0;

const tools = [
  defineTool(
    { name: 'echo', description: 'Echoes.', input: TEXT, annotations: { readOnlyHint: true } },
    ({ text }) => text,
  ),
  defineTool({ name: 'counts', description: 'Reports progress.', input: TEXT }, ({ text }, { progress }) => {
    for (const done of [1, 2, 3]) progress(done, 3);
    return text;
  }),
  defineTool({ name: 'asks', description: 'Asks for a part.', input: TEXT }, async ({ text }, { ask }) => {
    const answer = await ask('Which part?', PART);
    return `${text} ${answer.action === 'accept' ? answer.content.part : answer.action}`;
  }),
  defineTool(
    { name: 'waits', description: 'Waits for its end.', input: TEXT },
    (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('ended'), { once: true })),
  ),
  defineTool(
    { name: 'later', description: 'May be a task.', input: TEXT, execution: { taskSupport: 'optional' } },
    async ({ text }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return text;
    },
  ),
  defineTool({ name: 'opens', description: 'Opens a handle.', input: TEXT }, ({ text }, { who }) =>
    carts.open(who, { text }),
  ),
  defineTool({ name: 'touch', description: 'Changes the note.', input: TEXT }, ({ text }) => {
    version += 1;
    content.updated('notes://one');
    return text;
  }),
];
const content = contentSource({
  resources: [defineResource({ uri: 'notes://one', name: 'one', read: () => `note ${version}` })],
});

const host = await toolHost({ tools, content: [content] });
const http = await serve(host, {
  http: { port: 0, token: false, limits: { sessions: 200, streams: 1_000, bodyBytes: 1_000_000 } },
});
const path = process.argv[2];
await serve(host, { socket: { path } });

process.on('message', () => {
  for (let round = 0; round < 4; round += 1) globalThis.gc();
  const resources = {};
  for (const type of process.getActiveResourcesInfo()) resources[type] = (resources[type] ?? 0) + 1;
  process.send({
    heap: process.memoryUsage().heapUsed,
    rss: process.memoryUsage().rss,
    timers: timers.size,
    resources,
  });
});
process.once('disconnect', () => process.exit());
process.send({ url: http.url, path });
