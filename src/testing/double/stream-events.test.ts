import Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../contracts/index.ts';
import { createMessageFold } from '../../models/index.ts';
import { messagesDouble, type RecordedReply, recordedTurns, type Split } from '../index.ts';
import { piecesOf } from './split.ts';
import { streamEvents } from './stream-events.ts';

const words = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('🧭🎉', '"\\u0041\\\\"', 'a\nb\t\u2028', '{"a": -1.5e-7}', '👩‍👩‍👧'),
);
const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const input = fc.dictionary(
  // `__proto__` is no key that a literal can hold.
  words.filter((key) => key !== '__proto__'),
  fc.oneof(json, words, fc.double({ noNaN: true, noDefaultInfinity: true })),
  { maxKeys: 4 },
) as fc.Arbitrary<JsonObject>;

const block: fc.Arbitrary<JsonObject> = fc.oneof(
  words.map((text) => ({ type: 'text', text })),
  words.map((text) => ({ type: 'text', text, citations: [{ type: 'char_location', cited_text: text }] })),
  words.map((thinking) => ({ type: 'thinking', thinking, signature: 'c2ln' })),
  input.map((each) => ({ type: 'tool_use', id: 'toolu_1', name: 'look', input: each })),
  input.map((each) => ({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: each })),
  words.map((content) => ({ type: 'compaction', content, encrypted_content: null, signature: 'c2ln' })),
  json.map((data) => ({ type: 'hologram', data })),
);

const split: fc.Arbitrary<Split> = fc.oneof(
  fc.constantFrom<Split>('whole', 'words', 'awkward'),
  fc.integer({ min: 1, max: 7 }),
  fc.infiniteStream(fc.integer({ min: 1, max: 5 })).map((sizes) => (text: string) => {
    const pieces: string[] = [];
    for (let at = 0; at < text.length; ) {
      const size = sizes.next().value ?? 1;
      pieces.push(text.slice(at, at + size));
      at += size;
    }
    return pieces;
  }),
);

const message: fc.Arbitrary<RecordedReply> = fc.array(block, { maxLength: 5 }).map((content) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5',
  content,
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 7 },
}));

test('the pieces of a text add up to it, whatever the split, and none is empty', () => {
  fc.assert(
    fc.property(words, split, (text, how) => {
      const pieces = piecesOf(text, how);
      expect(pieces.join('')).toBe(text);
      expect(pieces).not.toContain('');
    }),
  );
});

test('pieces that don’t add up are refused', () => {
  expect(() => piecesOf('abc', () => ['a'])).toThrow(RangeError);
});

test('streamed events fold into the unstreamed message, whatever the split', () => {
  fc.assert(
    fc.property(message, split, (whole, how) => {
      const fold = createMessageFold();
      // As they arrive: over the wire an event is JSON.
      for (const event of streamEvents(whole, { split: how })) fold.apply(JSON.parse(JSON.stringify(event)) as Json);
      expect(fold.isComplete()).toBe(true);
      expect(JSON.parse(JSON.stringify(fold.reply().message))).toEqual(JSON.parse(JSON.stringify(whole)));
    }),
    { numRuns: 500 },
  );
});

test('the official client folds a stream into what it gets unstreamed, whatever the split', async () => {
  const request = { model: 'claude-haiku-4-5', max_tokens: 9, messages: [{ role: 'user' as const, content: 'Hi' }] };
  const known = message.filter(({ content }) =>
    (content as JsonObject[]).every(({ type, citations }) => type !== 'compaction' && citations === undefined),
  );
  await fc.assert(
    fc.asyncProperty(known, split, async (whole, how) => {
      const double = messagesDouble({ turns: recordedTurns([whole, whole]), split: how });
      const client = new Anthropic({ apiKey: 'k', authToken: null, baseURL: 'http://double', fetch: double.fetch });
      const unstreamed = await client.beta.messages.create(request);
      const streamed = await client.beta.messages.stream(request).finalMessage();
      expect(streamed.content).toEqual(unstreamed.content);
      expect(streamed.stop_reason).toBe(unstreamed.stop_reason);
      expect(streamed.usage).toEqual(unstreamed.usage);
    }),
    { numRuns: 60 },
  );
});

test('events come in the order of the API, with a ping and the totals of usage', () => {
  const whole = {
    type: 'message',
    content: [{ type: 'text', text: 'ab' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 9 },
  };
  const events = [...streamEvents(whole, { split: 1 })];
  expect(events.map(({ type }) => type)).toEqual([
    'message_start',
    'content_block_start',
    'ping',
    'content_block_delta',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
  expect(events[0]).toMatchObject({ message: { content: [], stop_reason: null, usage: { output_tokens: 1 } } });
  expect(events.at(-2)).toMatchObject({ usage: { input_tokens: 3, output_tokens: 9 } });
});

test('awkward splits fall inside escapes, surrogate pairs and numbers', () => {
  const whole = { type: 'message', content: [{ type: 'tool_use', id: 'a', name: 'b', input: { n: -12.5, s: '🎉' } }] };
  const pieces = [...streamEvents(whole, { split: 'awkward' })].flatMap(({ delta }) =>
    typeof delta === 'object' && delta !== null && 'partial_json' in delta ? [String(delta.partial_json)] : [],
  );
  expect(pieces.join('')).toBe('{"n":-12.5,"s":"\\ud83c\\udf89"}');
  expect(Math.max(...pieces.map((piece) => piece.length))).toBe(1);
});

test('a call at the limit of tokens stops in the middle of its input', () => {
  const whole = { type: 'message', content: [{ type: 'tool_use', id: 'a', name: 'b', input: { path: '/tmp' } }] };
  const text = [...streamEvents(whole, { split: 'whole', cutInput: true })]
    .flatMap(({ delta }) =>
      typeof delta === 'object' && delta !== null && 'partial_json' in delta ? [delta.partial_json] : [],
    )
    .join('');
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
});
