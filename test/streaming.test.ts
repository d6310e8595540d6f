import { afterEach, describe, expect, test } from 'vitest';
import { createAgent, type RunEvent } from '../src/agent/index.ts';
import { anthropicModel } from '../src/models/index.ts';
import { type MessagesDouble, messagesDouble, type ScriptedTurn } from '../src/testing/index.ts';
import { defineTool } from '../src/tools/index.ts';

const doubles: MessagesDouble[] = [];

afterEach(async () => {
  await Promise.all(doubles.splice(0).map((double) => double.stop()));
});

/** A run against the double over HTTP, its texts cut one UTF-16 unit at a time. */
async function play(turns: readonly ScriptedTurn[]) {
  const double = messagesDouble({ turns, split: 'awkward' });
  doubles.push(double);
  const ran: unknown[] = [];
  const note = defineTool(
    {
      name: 'note',
      description: 'Keeps a note.',
      input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    },
    (args) => {
      ran.push(args);
      return { kept: true };
    },
  );
  const model = anthropicModel('claude-sonnet-4-6', {
    apiKey: 'any',
    baseURL: await double.start(),
    baseMs: 1,
  });
  const agent = await createAgent({ model, tools: [note], permissions: { allow: ['note'] } });
  const events: RunEvent[] = [];
  const run = agent.run('Keep it.', { onProgress: (event) => events.push(event) });
  const result = await run.result;
  await agent.close();
  return { result, events, ran };
}

const piecesOf = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'arguments' ? [event.piece] : []));

describe('arguments that are streamed', () => {
  test('add up to what is run, wherever they are cut', async () => {
    const input = { text: 'é "quoted" \\ 😀 \u2028 end' };
    const { result, events, ran } = await play([{ text: 'So.', calls: [{ name: 'note', input }] }, 'Kept.']);
    expect(result.end).toBe('answered');
    expect(ran).toEqual([input]);
    const pieces = piecesOf(events);
    expect(pieces.length).toBeGreaterThan(20);
    expect(JSON.parse(pieces.join(''))).toEqual(input);
    const last = events.findLastIndex((event) => event.type === 'arguments');
    expect(events.findIndex((event) => event.type === 'message')).toBeGreaterThan(last);
    expect(events.findIndex((event) => event.type === 'call')).toBeGreaterThan(last);
  });

  test('are void when the connection is lost, and what comes anew is run once', async () => {
    const input = { text: 'a long enough text' };
    const { result, events, ran } = await play([
      { calls: [{ name: 'note', input }], fault: { kind: 'drop_during' } },
      { calls: [{ name: 'note', input }] },
      'Kept.',
    ]);
    expect(result.end).toBe('answered');
    expect(ran).toEqual([input]);
    const wait = events.findIndex((event) => event.type === 'wait');
    expect(wait).toBeGreaterThan(-1);
    expect(JSON.parse(piecesOf(events.slice(wait)).join(''))).toEqual(input);
  });

  test('of a reply that was cut for its length are not run', async () => {
    const input = { text: 'x' };
    const cut = { calls: [{ name: 'note', input }], fault: { kind: 'truncate_call' } } as const;
    const { result, events, ran } = await play([cut, cut]);
    expect(result.end).toBe('truncated');
    expect(ran).toEqual([]);
    expect(events.some((event) => event.type === 'limit' && event.retrying)).toBe(true);
  });
});
