import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../contracts/index.ts';
import { inputFromText, invalidInputText } from './invalid-input.ts';
import { messageEvents } from './message-events.ts';
import { createMessageFold } from './message-fold.ts';

function foldAll(events: Iterable<JsonObject>): JsonObject {
  const fold = createMessageFold();
  for (const event of events) fold.apply(event);
  return fold.reply().message as JsonObject;
}

const START = {
  type: 'message_start',
  message: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'x',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 3, output_tokens: 1, cache_read_input_tokens: 2 },
  },
};

test('folding the events of a message gives the message back, however it is cut', () => {
  const block = fc.oneof(
    fc.record({ type: fc.constant('text'), text: fc.string({ unit: 'grapheme' }) }),
    fc.record({
      type: fc.constant('tool_use'),
      id: fc.constant('t'),
      name: fc.constant('n'),
      input: fc.dictionary(
        fc.string().filter((key) => key !== '__proto__'),
        fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))),
      ),
    }),
    fc.record({ type: fc.constant('invented'), what: fc.integer() }),
  );
  fc.assert(
    fc.property(fc.array(block, { maxLength: 4 }), fc.integer({ min: 1, max: 9 }), (content, pieceLength) => {
      const message = {
        id: 'm',
        type: 'message',
        role: 'assistant',
        content: content as JsonObject[],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { output_tokens: 1 },
      };
      expect(foldAll(messageEvents(message, { pieceLength }))).toEqual(message);
    }),
  );
});

test('usage counters are totals: the last one counts, and one left out stays', () => {
  const message = foldAll([
    START,
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: 9, cache_read_input_tokens: null },
    },
  ]);
  expect(message.usage).toEqual({ input_tokens: 3, output_tokens: 9, cache_read_input_tokens: 2 });
});

test('citations, signatures and compactions arrive whole; unknown deltas grow their field', () => {
  const message = foldAll([
    START,
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: { url: 'a' } } },
    { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: { url: 'b' } } },
    { type: 'content_block_start', index: 1, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'signature_delta', signature: 'one' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'signature_delta', signature: 'two' } },
    { type: 'content_block_start', index: 2, content_block: { type: 'poem', verse: '' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'verse_delta', verse: 'la ' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'verse_delta', verse: 'la' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} },
  ]);
  expect(message.content).toEqual([
    { type: 'text', text: '', citations: [{ url: 'a' }, { url: 'b' }] },
    { type: 'thinking', thinking: '', signature: 'two' },
    { type: 'poem', verse: 'la la' },
  ]);
});

test('a reply that begins anew in the same stream holds nothing of what had begun before', () => {
  const callAt = (index: number) => ({
    type: 'content_block_start',
    index,
    content_block: { type: 'tool_use', id: `toolu_${index}`, name: 'pay', input: {} },
  });
  const message = foldAll([
    START,
    callAt(0),
    callAt(1),
    START,
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'No.' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} },
  ]);
  expect(message.content).toEqual([{ type: 'text', text: 'No.' }]);
});

test('a reply is complete only with its stop reason and all blocks ended', () => {
  const fold = createMessageFold();
  expect(fold.isComplete()).toBe(false);
  fold.apply(START);
  fold.apply({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
  fold.apply({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} });
  expect(fold.isComplete()).toBe(false);
  fold.apply({ type: 'content_block_stop', index: 0 });
  expect(fold.isComplete()).toBe(true);
});

test('a delta named after the prototype changes nothing but its block', () => {
  const delta = JSON.parse('{"type":"x_delta","__proto__":{"polluted":true}}') as JsonObject;
  const message = foldAll([
    START,
    { type: 'content_block_start', index: 0, content_block: { type: 'invented' } },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} },
  ]);
  expect(({} as JsonObject).polluted).toBeUndefined();
  expect((message.content as JsonObject[])[0]?.polluted).toBeUndefined();
});

test('an input is an object, or the text that it should have been', () => {
  expect(inputFromText('')).toEqual({});
  expect(inputFromText('{"a":1}')).toEqual({ a: 1 });
  expect(invalidInputText(inputFromText('[1]'))).toBe('[1]');
  expect(invalidInputText({ a: 1 })).toBeUndefined();
  expect(invalidInputText({ INVALID_JSON: '{}' })).toBeUndefined();
});
