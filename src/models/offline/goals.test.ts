import { describe, expect, test } from 'vitest';
import { readGoals } from './goals.ts';

const goals = (text: string, verbs: readonly string[] = []) => readGoals(text, (word) => verbs.includes(word));

describe('readGoals', () => {
  test('splits commands where a verb follows, and nowhere else', () => {
    expect(goals('Read a.txt and delete b.txt').map(({ text }) => text)).toEqual(['Read a.txt', 'delete b.txt']);
    expect(goals('Show orders and payments')).toHaveLength(1);
    expect(goals('Refund it, then list all notes. Find Ada').map(({ head }) => head)).toEqual([
      undefined,
      'list',
      'find',
    ]);
  });

  test('splits at a verb that only the tools know', () => {
    expect(goals('List notes and refund O-1', ['refund']).map(({ head }) => head)).toEqual(['list', 'refund']);
  });

  test('never splits a quotation or a path', () => {
    expect(goals("Write 'first. Then delete it; and read' to /a/b. c")).toHaveLength(2);
  });

  test.each([
    ['Please refund order O-1', 'command'],
    ['Could you please refund order O-1?', 'command'],
    ['I want a refund for O-1', 'command'],
    ['Where is my order?', 'question'],
    ['And in New York?', 'question'],
    ['My order is O-1', 'statement'],
  ])('%s: is a %s', (text, mood) => {
    expect(goals(text, ['refund'])[0]?.mood).toBe(mood);
  });

  test('drops what is not to be done', () => {
    expect(goals('Don’t delete note 3')).toEqual([]);
    expect(goals('Never send it')).toEqual([]);
  });

  test('weighs the thing asked for above the rest, and vague words little', () => {
    const [goal] = goals('Get the details of the ticket from the desk');
    expect(goal?.contents).toEqual([
      { stem: 'detail', weight: 0.4 },
      { stem: 'ticket', weight: 1.5 },
      { stem: 'desk', weight: 1 },
    ]);
  });

  test('tells from a value’s form what kind of thing it is', () => {
    expect(goals('Read notes.txt')[0]?.contents.map(({ stem }) => stem)).toEqual(['fil', 'text']);
  });

  test('knows a wish about how to show the answer from a further goal', () => {
    expect(goals('Read a.txt and quote its first line').map(({ showing }) => showing)).toEqual([false, true]);
    expect(goals('Read a.txt and show b.txt').map(({ showing }) => showing)).toEqual([false, false]);
  });

  test('keeps what is to be searched for', () => {
    expect(goals('Search the catalogue for red lamps')[0]?.rest).toBe('red lamps');
    expect(goals('Echo hello world', ['echo'])[0]?.rest).toBe('hello world');
    expect(goals('Show red lamps')[0]?.rest).toBeUndefined();
  });
});
