import { describe, expect, test } from 'vitest';
import type { Json } from '../../contracts/index.ts';
import { readAnswer, readTurns } from './conversation.ts';

const block = (content: Json, is_error = false) =>
  readAnswer({ type: 'tool_result', tool_use_id: 't', content, is_error });

describe('readTurns', () => {
  test('begins a turn at what the user says, and keeps the calls made since with their results', () => {
    const turns = readTurns([
      { role: 'user', content: 'First' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'get', input: { a: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'done' }] },
      { role: 'assistant', content: 'Said' },
      { role: 'user', content: [{ type: 'text', text: 'Second' }] },
    ]);
    expect(turns.map(({ text, reply }) => [text, reply])).toEqual([
      ['First', 'Said'],
      ['Second', ''],
    ]);
    expect(turns[0]?.calls).toMatchObject([{ id: 't1', name: 'get', input: { a: 1 }, answer: { texts: ['done'] } }]);
  });

  test('leaves out calls without a result and results without a call', () => {
    const turns = readTurns([
      { role: 'user', content: 'x' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'get', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'other', content: 'y' }] },
    ]);
    expect(turns[0]?.calls).toEqual([]);
    expect(readTurns('no list')).toEqual([]);
  });
});

describe('readAnswer', () => {
  test('tells documents from texts', () => {
    expect(block('{"a": 1}')).toMatchObject({ documents: [{ a: 1 }], texts: [] });
    expect(block('[1, 2')).toMatchObject({ documents: [], texts: ['[1, 2'] });
    expect(block('42')).toMatchObject({ texts: ['42'] });
  });

  test('unwraps a document that only holds a text, and drops what is told twice', () => {
    expect(
      block([
        { type: 'text', text: '{"content": "hi"}' },
        { type: 'text', text: 'hi' },
      ]),
    ).toMatchObject({ documents: [], texts: ['hi'] });
    const rows = [
      { type: 'text', text: '{"rows": [{"a": 1}]}' },
      { type: 'text', text: '[{"a":1}]' },
    ];
    expect(block(rows).documents).toEqual([{ rows: [{ a: 1 }] }]);
  });

  test('names what isn’t text', () => {
    expect(block([{ type: 'image', source: {} }]).others).toEqual(['image']);
    expect(block('no', true).isError).toBe(true);
  });
});
