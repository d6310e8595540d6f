import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../contracts/index.ts';
import { readCards } from './tool-card.ts';

function card(name: string, description: string, input_schema: JsonObject = { type: 'object' }) {
  const [only] = readCards([{ name, description, input_schema }]);
  if (!only) throw new Error('No card.');
  return only;
}

describe('readCards', () => {
  test.each([
    ['get_order', 'Look up an order', 'read'],
    ['list_notes', 'List all notes', 'read'],
    ['mcp__math__get-sum', 'Returns the sum of two numbers', 'read'],
    ['weather', 'Current weather for a city', 'unclear'],
    ['refund_payment', 'Refund a payment', 'write'],
    ['order_status', 'Get the status of an order', 'read'],
    ['order_item', 'Order an item', 'write'],
    ['search_and_replace', 'Search for text and replace it', 'write'],
    ['frobnicate', 'Frobnicates the thing', 'write'],
  ])('judges %s, “%s”, as %s', (name, description, effect) => {
    expect(card(name, description).effect).toBe(effect);
  });

  test('takes a tool that adds numbers for one that only reckons', () => {
    const numbers = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } };
    expect(card('add', 'Add two numbers', numbers).effect).toBe('read');
    expect(card('add_note', 'Add a note', { type: 'object', properties: { text: { type: 'string' } } }).effect).toBe(
      'write',
    );
  });

  test('reads the server out of a wire name', () => {
    expect(card('mcp__my_fs__read_text_file', '')).toMatchObject({ server: 'my_fs', nouns: ['text', 'fil'] });
  });

  test('finds every field, through references, alternatives and lists', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        items: { type: 'array', items: { $ref: '#/$defs/item' } },
        when: { anyOf: [{ type: 'null' }, { type: 'string', format: 'date' }] },
        tags: { type: ['array', 'null'], items: { type: 'string' } },
      },
      required: ['items'],
      $defs: {
        item: {
          type: 'object',
          properties: { name: { type: 'string' }, note: { type: 'string' } },
          required: ['name'],
        },
      },
    };
    const fields = card('act', '', schema).fields.map(({ path, sort, many, required }) => [
      path.join('.'),
      sort,
      many,
      required,
    ]);
    expect(fields).toEqual([
      ['items.0.name', 'name', false, true],
      ['items.0.note', 'prose', false, false],
      ['when', 'date', false, false],
      ['tags', 'text', true, false],
    ]);
  });

  test('comes to an end with a schema that refers to itself', () => {
    const loop: JsonObject = {
      type: 'object',
      properties: { next: { $ref: '#' }, self: { $ref: '#/properties/self' } },
    };
    expect(card('act', '', loop).fields.length).toBeLessThan(100);
  });

  test('leaves out what isn’t a tool', () => {
    expect(readCards([null, 3, { name: 'x' }, { type: 'web_search_20260318', name: 'web_search' }])).toEqual([]);
    expect(readCards(undefined)).toEqual([]);
  });
});
