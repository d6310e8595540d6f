import { expect, test } from 'vitest';
import type { CallContext } from '../contracts/index.ts';
import { memoryRecorder } from '../dispatch/index.ts';
import { defineTool, rawFrom, text } from '../tools/index.ts';
import { fakeSource, hiding, WHO } from './fixtures.ts';
import { toolHost } from './tool-host.ts';

const greet = defineTool(
  {
    name: 'greet',
    description: 'Greets someone by name.',
    input: {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
      additionalProperties: false,
    },
  },
  ({ name }) => text(`Hello, ${String(name)}.`),
);

const ctx: CallContext = { callId: 'c', who: WHO, signal: new AbortController().signal, idleMs: 1_000, hardMs: 1_000 };

test('a host offers its own tools and those of sources, and calls them', async () => {
  const recorder = memoryRecorder();
  const host = await toolHost({ tools: [greet], sources: [fakeSource('shop', ['look'])], recorder });
  expect(host.list(WHO).map(({ ref }) => ref.name)).toEqual(['greet', 'mcp__shop__look']);
  const call = (name: string, args: { [k: string]: string }) =>
    host.call({ name, args: rawFrom(args), profile: 'agent', conversation: 'v', ctx });
  expect(await call('greet', { name: 'Ada' })).toMatchObject({ kind: 'ok', content: 'Hello, Ada.' });
  expect(await call('mcp__shop__look', {})).toMatchObject({ kind: 'ok', content: 'from shop' });
  expect(await call('greet', {})).toMatchObject({ kind: 'invalid' });
  expect(recorder.outcomes).toHaveLength(3);
});

test('what a host is asked about and nobody can answer is refused', async () => {
  const host = await toolHost({ tools: [greet], policy: hiding() });
  const args = rawFrom({ name: 'Ada' });
  const outcome = await host.call({ name: 'greet', args, profile: 'relay', conversation: 'v', ctx });
  expect(outcome.kind).toBe('denied');
});

test('a host without any source is a host with an empty list', async () => {
  expect((await toolHost({})).list(WHO)).toEqual([]);
});
