import { describe, expect, test } from 'vitest';
import { readGoals } from './goals.ts';
import { FITS, rankTools, toolIndexer } from './rank.ts';

const tool = (name: string, description: string, ...fields: string[]) => ({
  name,
  description,
  input_schema: {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])),
    required: fields,
  },
});
const tools = [
  tool('read_file', 'Read a file. DEPRECATED: use read_text_file.', 'path'),
  tool('read_text_file', 'Read a file as text', 'path'),
  tool('write_file', 'Write a file', 'path', 'content'),
  tool('list_notes', 'List all notes'),
  tool('delete_note', 'Delete a note', 'note_id'),
];
const rank = (text: string) => {
  const [goal] = readGoals(text, () => false);
  return goal ? rankTools(goal, toolIndexer()(tools)).map(({ card, score }) => ({ name: card.name, score })) : [];
};

describe('rankTools', () => {
  test('puts the tool of the same verb and noun first', () => {
    expect(rank('Show my notes')[0]?.name).toBe('list_notes');
    expect(rank('Remove the note')[0]?.name).toBe('delete_note');
  });

  test('puts a deprecated tool behind its successor', () => {
    expect(rank('Read the file a.txt').map(({ name }) => name)).toEqual(['read_text_file', 'read_file']);
  });

  test('offers a question and a reading command nothing that changes anything', () => {
    for (const text of ['Is the note deleted?', 'Show the note', 'Where is the file?']) {
      expect(rank(text).map(({ name }) => name)).not.toEqual(expect.arrayContaining(['delete_note']));
      expect(rank(text).map(({ name }) => name)).not.toEqual(expect.arrayContaining(['write_file']));
    }
  });

  test('finds nothing for what no tool knows', () => {
    for (const text of ['Write me a poem', 'Send a letter', 'What is love?']) {
      expect(rank(text).filter(({ score }) => score >= FITS)).toEqual([]);
    }
  });
});

test('toolIndexer reads equal tools once and sees changed ones', () => {
  const index = toolIndexer();
  const first = index(tools);
  expect(index(structuredClone(tools))).toBe(first);
  expect(index(tools.slice(1)).cards).toHaveLength(4);
});
