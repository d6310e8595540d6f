import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../contracts/index.ts';
import { createDeltaReader, type Piece } from './deltas.ts';
import { calls, drain, gate, ok, reply, says, script, start, textBlock, toolUse } from './fixtures.ts';

const opens = (index: number, content_block: JsonObject) => ({ type: 'content_block_start', index, content_block });
const grows = (index: number, delta: JsonObject) => ({ type: 'content_block_delta', index, delta });
const json = (index: number, partial_json: string) => grows(index, { type: 'input_json_delta', partial_json });
const read = (events: readonly Json[]): Piece[] => {
  const reader = createDeltaReader();
  return events.flatMap((event) => reader.read(event));
};

test('arguments are told by the place and the name of their call, in the pieces in which they come', () => {
  const told = read([
    opens(1, toolUse('a', 'write', {})),
    json(1, '{"text":"\\ud83'),
    json(1, 'd\\ude00 \ud83d'),
    json(1, '\ude00"}'),
    { type: 'content_block_stop', index: 1 },
    opens(2, { ...toolUse('b', 'click', {}), toolset_name: 'computer' }),
  ]);
  expect(told[0]).toEqual({ type: 'arguments', index: 1, name: 'write', piece: '' });
  const text = told.flatMap((piece) => (piece.type === 'arguments' && piece.index === 1 ? [piece.piece] : [])).join('');
  expect(JSON.parse(text)).toEqual({ text: '😀 😀' });
  expect(told.at(-1)).toEqual({ type: 'arguments', index: 2, name: 'click', piece: '', toolset: 'computer' });
});

test('text and thinking are told, and what nobody knows or what the provider runs itself is not', () => {
  const told = read([
    opens(0, { type: 'thinking', thinking: '', signature: '' }),
    grows(0, { type: 'thinking_delta', thinking: 'Well.' }),
    grows(0, { type: 'signature_delta', signature: 'x' }),
    opens(1, textBlock('')),
    grows(1, { type: 'text_delta', text: 'Yes.' }),
    opens(2, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
    json(2, '{"query":"x"}'),
    opens(3, { type: 'hologram' }),
    grows(3, { type: 'hologram_delta', depth: 3 }),
    json(9, '{}'),
    null,
    'text',
  ]);
  expect(told).toEqual([
    { type: 'thinking', text: 'Well.' },
    { type: 'text', text: 'Yes.' },
  ]);
});

test('a model that does not stream has its reply told in one piece each, in order', async () => {
  const content = [
    { type: 'thinking', thinking: 'Hm.', signature: 's' },
    textBlock('Looking.'),
    toolUse('a', 'read', { at: 1 }),
  ];
  const run = start(script(reply(content, 'tool_use'), says('Done.')));
  const events = await drain(run);
  expect(events.slice(0, 4)).toMatchObject([
    { type: 'thinking', text: 'Hm.' },
    { type: 'text', text: 'Looking.' },
    { type: 'arguments', index: 2, name: 'read', piece: '{"at":1}' },
    { type: 'message' },
  ]);
});

test('a call is not run while its reply is still coming, however whole its arguments are', async () => {
  const told = gate();
  const go = gate();
  const ran: string[] = [];
  const model = script(async ({ onDelta }) => {
    onDelta?.(opens(0, toolUse('read_0', 'read', {})));
    onDelta?.(json(0, '{"at":0}'));
    onDelta?.({ type: 'content_block_stop', index: 0 });
    told.open();
    await go.promise;
    return calls('read');
  }, says('Done.'));
  const run = start(model, async ({ name }) => {
    ran.push(name);
    return ok('x');
  });
  await told.promise;
  // Whatever a call that had begun would still need.
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(ran).toEqual([]);
  go.open();
  await run.result;
  expect(ran).toEqual(['read']);
});

test('of a reply whose stream is cut in the middle nothing is run', async () => {
  const ran: string[] = [];
  const model = script(async ({ onDelta }) => {
    onDelta?.(opens(0, toolUse('read_0', 'read', {})));
    onDelta?.(json(0, '{"at":0}'));
    onDelta?.({ type: 'content_block_stop', index: 0 });
    onDelta?.(opens(1, toolUse('write_1', 'write', {})));
    onDelta?.(json(1, '{"at":'));
    throw new Error('socket hang up');
  });
  const run = start(model, async ({ name }) => {
    ran.push(name);
    return ok('x');
  });
  expect(await run.result).toMatchObject({ end: 'failed', calls: 0 });
  expect(ran).toEqual([]);
});
