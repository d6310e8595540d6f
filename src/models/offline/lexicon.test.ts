import { expect, test } from 'vitest';
import { isPlainVerb, isVerb, verbEffects, verbLikeness } from './lexicon.ts';

test('verbs of one meaning stand for one another, reading ones a little, others not at all', () => {
  expect(verbLikeness('creating', 'create')).toBe(1);
  expect(verbLikeness('remove', 'delete')).toBe(0.8);
  expect(verbLikeness('list', 'get')).toBe(0.5);
  expect(verbLikeness('delete', 'get')).toBe(0);
  expect(verbLikeness('frobnicate', 'get')).toBe(0);
});

test('a verb may have several effects, an unknown one has none', () => {
  expect(verbEffects('add')).toEqual(['pure', 'write']);
  expect(verbEffects('constructor')).toEqual([]);
});

test('words that are nouns as often as verbs don’t begin a command in the middle of a sentence', () => {
  expect([isVerb('order'), isPlainVerb('order'), isPlainVerb('delete')]).toEqual([true, false, true]);
});
