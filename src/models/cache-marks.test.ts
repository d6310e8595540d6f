import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../contracts/index.ts';
import { withCacheMarks } from './cache-marks.ts';

const MARK = { type: 'ephemeral' };
const tool = (name: string, more: JsonObject = {}): JsonObject => ({ name, input_schema: { type: 'object' }, ...more });
const user = (content: JsonObject['content']): JsonObject => ({ role: 'user', content: content ?? '' });
const call = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'a', input: {} }] };
const result = (text: string): JsonObject => user([{ type: 'tool_result', tool_use_id: 't', content: text }]);

describe('A request is marked', () => {
  test('behind its tools, its system prompt, its last user message and the one before', () => {
    const body = {
      tools: [tool('a'), tool('b')],
      system: 'Be brief.',
      messages: [user('Go.'), call, result('one'), call, result('two')],
    };
    expect(withCacheMarks(body)).toEqual({
      tools: [tool('a'), tool('b', { cache_control: MARK })],
      system: [{ type: 'text', text: 'Be brief.', cache_control: MARK }],
      messages: [
        user('Go.'),
        call,
        user([{ type: 'tool_result', tool_use_id: 't', content: 'one', cache_control: MARK }]),
        call,
        user([{ type: 'tool_result', tool_use_id: 't', content: 'two', cache_control: MARK }]),
      ],
    });
  });

  test('so that the next one finds a mark where this one had its last', () => {
    const first = { tools: [tool('a')], messages: [user('Go.')] };
    const second = { tools: [tool('a')], messages: [user('Go.'), call, result('one')] };
    const [before, after] = [withCacheMarks(first), withCacheMarks(second)] as { messages: JsonObject[] }[];
    expect(after?.messages[0]).toEqual(before?.messages[0]);
  });

  test('not behind deferred tools, empty texts or thinking', () => {
    const blocks = [
      { type: 'text', text: 'Go.' },
      { type: 'thinking', thinking: '…' },
      { type: 'text', text: '' },
    ];
    const body = { tools: [tool('a'), tool('b', { defer_loading: true })], messages: [user(blocks)] };
    expect(withCacheMarks(body)).toEqual({
      tools: [tool('a', { cache_control: MARK }), tool('b', { defer_loading: true })],
      messages: [user([{ type: 'text', text: 'Go.', cache_control: MARK }, ...blocks.slice(1)])],
    });
  });

  test('for an hour where that is wanted, but never with an hour behind five minutes', () => {
    const hour = { ...MARK, ttl: '1h' };
    const body = { system: 'Be brief.', tools: [tool('a')], messages: [user('Go.')] };
    expect(withCacheMarks(body, '1h')).toMatchObject({ system: [{ cache_control: hour }] });
    const marked = { ...body, tools: [tool('a', { cache_control: MARK })] };
    expect(withCacheMarks(marked, '1h')).toMatchObject({
      tools: [tool('a', { cache_control: MARK })],
      system: [{ cache_control: MARK }],
    });
  });
});

describe('A request is left as it is', () => {
  test.each<readonly [string, JsonObject]>([
    ['that has marks in its messages', { messages: [user([{ type: 'text', text: 'Go.', cache_control: MARK }])] }],
    ['that asks for automatic marks', { cache_control: MARK, tools: [tool('a')], messages: [user('Go.')] }],
    ['that is a single question without tools', { messages: [user('Go.')] }],
  ])('%s', (_, body) => {
    expect(withCacheMarks(body)).toEqual(body);
  });
});

test('whatever the request, it has at most four marks, and nothing that was given is changed', () => {
  const mark = fc.constantFrom({}, { cache_control: MARK });
  const tools = fc.array(
    mark.map((more) => tool('a', more)),
    { maxLength: 6 },
  );
  const text = fc.constantFrom('', 'x');
  const block = fc.oneof(
    text.map((value) => ({ type: 'text', text: value })),
    fc.constant({ type: 'thinking', thinking: '' }),
    fc.constant({ type: 'tool_result', tool_use_id: 't', content: [] }),
  );
  const message = fc.record({
    role: fc.constantFrom('user', 'assistant', 'system'),
    content: fc.oneof(text, fc.array(block, { maxLength: 3 })),
  });
  const system = fc.oneof(
    text,
    fc.array(
      mark.map((more) => ({ type: 'text', text: 'x', ...more })),
      { maxLength: 5 },
    ),
  );
  const body = fc.record({ tools, system, messages: fc.array(message, { maxLength: 6 }) });
  fc.assert(
    fc.property(body, fc.constantFrom<'5m' | '1h'>('5m', '1h'), (given, ttl) => {
      const before = JSON.stringify(given);
      const own = before.split('"cache_control"').length - 1;
      const made = JSON.stringify(withCacheMarks(given as JsonObject, ttl));
      expect(JSON.stringify(given)).toBe(before);
      expect(made.split('"cache_control"').length - 1).toBeLessThanOrEqual(Math.max(4, own));
    }),
    { numRuns: 500 },
  );
});
