import { describe, expect, test } from 'vitest';
import { createIndex, type IndexedDocument } from './index.ts';

const doc = (id: string, name: string, text: string): IndexedDocument => ({
  id,
  fields: [
    { text: name, weight: 3 },
    { text, weight: 1 },
  ],
});

const library = createIndex([
  doc('read', 'read_text_file', 'Read the contents of a file as text'),
  doc('list', 'list_directory', 'List the files in a directory'),
  doc('sum', 'get-sum', 'Returns the sum of two numbers'),
]);

describe('createIndex', () => {
  test('ranks the document with the rarer and more frequent terms first', () => {
    expect(library.search('list files of the directory', 3).map((hit) => hit.id)).toEqual(['list', 'read']);
  });

  test('counts a hit in a heavier field for more', () => {
    const index = createIndex([doc('a', 'alpha', 'beta gamma'), doc('b', 'beta', 'alpha gamma')]);
    expect(index.search('beta', 2).map((hit) => hit.id)).toEqual(['b', 'a']);
  });

  test('returns only documents that share a term, at most k of them', () => {
    expect(library.search('poem', 5)).toEqual([]);
    expect(library.search('the of a', 5)).toEqual([]);
    expect(library.search('file directory numbers', 1)).toHaveLength(1);
    expect(library.search('file', 0)).toEqual([]);
  });

  test('keeps the order of the documents when scores are equal', () => {
    const index = createIndex([doc('first', 'same', 'words'), doc('second', 'same', 'words')]);
    expect(index.search('same words', 2).map((hit) => hit.id)).toEqual(['first', 'second']);
  });

  test('takes words that are also names of object members', () => {
    const index = createIndex([doc('c', 'constructor', '__proto__ toString')]);
    expect(index.search('constructor', 1)[0]?.id).toBe('c');
    expect(library.search('constructor hasOwnProperty', 3)).toEqual([]);
  });

  test('finds nothing in an empty index', () => {
    expect(createIndex([]).search('anything', 3)).toEqual([]);
  });
});
