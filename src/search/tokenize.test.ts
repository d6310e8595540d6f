import { describe, expect, test } from 'vitest';
import { splitWords, stem, tokenize } from './index.ts';

describe('splitWords', () => {
  test('reads names in code as prose', () => {
    expect(splitWords('entityType read_text_file get-sum parseHTTPResponse v2Beta')).toEqual(
      'entity type read text file get sum parse http response v2 beta'.split(' '),
    );
  });

  test('drops a possessive or contracted ending', () => {
    expect(splitWords("Where's Ada’s file?")).toEqual(['where', 'ada', 'file']);
  });

  test('gives pairs of characters for scripts without spaces', () => {
    expect(splitWords('搜索关键词')).toEqual(['搜索', '索关', '关键', '键词']);
  });
});

describe('tokenize', () => {
  test('leaves out stop words and joins the forms of a word', () => {
    expect(tokenize('the listing of directories')).toEqual(tokenize('list directory'));
  });
});

describe('stem', () => {
  test.each([
    ['entities', 'entity'],
    ['files', 'file'],
    ['creating', 'create'],
    ['created', 'create'],
    ['creates', 'create'],
    ['queries', 'query'],
    ['searches', 'search'],
    ['running', 'run'],
    ['boxes', 'box'],
    ['sums', 'sum'],
    ['notes', 'note'],
  ])('%s and %s have one stem', (form, base) => {
    expect(stem(form)).toBe(stem(base));
  });

  test.each(['status', 'address', 'is', 'bus', 'o104', 'größe'])('%s is left alone', (word) => {
    expect(stem(word)).toBe(word);
  });
});
