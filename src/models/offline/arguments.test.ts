import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../contracts/index.ts';
import { fillArguments, type Known } from './arguments.ts';
import { idClaims } from './candidates.ts';
import { factsOf } from './facts.ts';
import { readGoals } from './goals.ts';
import { readCards } from './tool-card.ts';

const NOTHING: Known = { around: [], facts: [], claims: [], answers: [] };

function fill(
  words: string,
  properties: JsonObject,
  required = Object.keys(properties),
  known = NOTHING,
  name = 'act_on_it',
) {
  const [card] = readCards([{ name, description: '', input_schema: { type: 'object', properties, required } }]);
  const [goal] = readGoals(words, (word) => word === 'act');
  if (!card || !goal) throw new Error('Nothing to fill.');
  const { input, missing } = fillArguments(card, goal, known);
  return { input, missing: missing.map((field) => field.path.join('.')) };
}

const text = (description = ''): JsonObject => ({ type: 'string', description });

describe('fillArguments', () => {
  test('takes values by name and form', () => {
    const properties = { to: { type: 'string', format: 'email' }, subject: text(), body: text() };
    expect(fill("Send a mail to bob@example.com with subject 'Hello' and body 'See you'", properties).input).toEqual({
      to: 'bob@example.com',
      subject: 'Hello',
      body: 'See you',
    });
  });

  test('gives numbers in their order, as numbers', () => {
    const number = { type: 'number' };
    expect(fill('Add 2 and 1,000.5', { a: number, b: number }).input).toEqual({ a: 2, b: 1000.5 });
    expect(fill('Add 2', { a: number, b: number }).missing).toEqual(['b']);
    expect(fill('Add 2.5', { a: { type: 'integer' } }).missing).toEqual(['a']);
    expect(fill('Add 20', { a: { type: 'integer', maximum: 10 } }).missing).toEqual(['a']);
  });

  test("a schema's own value beats one that an earlier result has under the same name", () => {
    const answer = { isError: false, documents: [{ count: 3 }], texts: [], others: [] };
    const known = { ...NOTHING, facts: factsOf({ id: 'c', name: 'count_items', input: {}, answer }) };
    const count = { type: 'integer' };
    expect(fill('Act on it', { count }, ['count'], known).input).toEqual({ count: 3 });
    expect(fill('Act on it', { count: { ...count, default: 1 } }, ['count'], known).input).toEqual({ count: 1 });
    expect(fill('Act on it', { count: { ...count, default: 1 } }, [], known).input).toEqual({});
  });

  test('builds nested objects and lists', () => {
    const properties = {
      entities: {
        type: 'array',
        items: {
          type: 'object',
          properties: { name: text(), kind: text(), notes: { type: 'array', items: text() } },
          required: ['name', 'kind', 'notes'],
        },
      },
    };
    expect(fill("Create an entity named Ada of kind person with notes 'tall' and 'kind'", properties).input).toEqual({
      entities: [{ name: 'Ada', kind: 'person', notes: ['tall', 'kind'] }],
    });
  });

  test('gives an id only to the thing it belongs to', () => {
    expect(fill('Act on order O-104', { payment_id: text() }).missing).toEqual(['payment_id']);
    expect(fill('Act on order O-104', { order_id: text() }).input).toEqual({ order_id: 'O-104' });
    expect(fill('Act on O-104', { ticket_id: text('e.g. T-1') }).missing).toEqual(['ticket_id']);
  });

  test('knows by its form that an id is another thing’s', () => {
    const [other] = readCards([
      {
        name: 'get_order',
        input_schema: { type: 'object', properties: { order_id: text('e.g. O-1') }, required: ['order_id'] },
      },
    ]);
    const known = { ...NOTHING, claims: idClaims(other?.fields ?? []) };
    expect(fill('Act on O-104', { payment_id: text() }, ['payment_id'], known).missing).toEqual(['payment_id']);
    expect(fill('Act on O-104', { payment_id: text() }).input).toEqual({ payment_id: 'O-104' });
  });

  test('joins a file with the directory it is said to be in', () => {
    const read = (words: string) => fill(words, { path: text() }, ['path'], NOTHING, 'read_file').input;
    expect(read('Read notes.txt in /tmp/x')).toEqual({ path: '/tmp/x/notes.txt' });
    expect(read('Read notes.txt')).toEqual({ path: 'notes.txt' });
  });

  test('tells from and to apart', () => {
    const properties = { source: text(), destination: text() };
    const expected = { source: '/a.txt', destination: '/b.txt' };
    expect(fill('Move /a.txt to /b.txt', properties, undefined, NOTHING, 'move_file').input).toEqual(expected);
  });

  test('takes a choice only as it is spelled out, and only one', () => {
    const properties = { status: { enum: ['todo', 'in_progress', 'done'] } };
    expect(fill('Set the status to in progress', properties).input).toEqual({ status: 'in_progress' });
    expect(fill('Set it from todo to done', properties).missing).toEqual(['status']);
  });

  test('uses const, default and a lone enum member where a value is required, and leaves the rest out', () => {
    const properties = {
      a: { const: 1 },
      b: { type: 'integer', default: 5 },
      c: { enum: ['x'] },
      d: { type: 'string', default: 'y' },
    };
    expect(fill('Act now', properties, ['a', 'b', 'c']).input).toEqual({ a: 1, b: 5, c: 'x' });
  });

  test('fills an optional field only where the words name it', () => {
    const properties = { path: text(), head: { type: 'number', description: 'only the first N lines' } };
    expect(fill('Read the first 3 lines of /a.txt', properties, ['path']).input).toEqual({ path: '/a.txt', head: 3 });
    expect(fill('Read /a.txt in 3 days', properties, ['path']).input).toEqual({ path: '/a.txt' });
    expect(fill('Read /a.txt head=7', properties, ['path']).input).toEqual({ path: '/a.txt', head: 7 });
  });

  test('takes ids from results by name, and none where results offer several', () => {
    const facts = (document: JsonObject) =>
      factsOf({
        id: 'c',
        name: 'get_order',
        input: {},
        answer: { isError: false, documents: [document], texts: [], others: [] },
      });
    const one = { ...NOTHING, facts: facts({ payment_id: 'P-1', note: 'x' }) };
    expect(fill('Act on it', { payment_id: text() }, ['payment_id'], one).input).toEqual({ payment_id: 'P-1' });
    expect(fill('Act on it', { note: text() }, ['note'], one).missing).toEqual(['note']);
    const two = {
      ...NOTHING,
      facts: facts({
        rows: [
          { payment_id: 'P-1', order: 'O-1' },
          { payment_id: 'P-2', order: 'O-2' },
        ],
      }),
    };
    expect(fill('Act on it', { payment_id: text() }, ['payment_id'], two).missing).toEqual(['payment_id']);
    expect(fill('Act on order O-2', { payment_id: text() }, ['payment_id'], two).input).toEqual({ payment_id: 'P-2' });
  });

  test('takes field names that are also names of object members', () => {
    const properties = JSON.parse('{"__proto__": {"type": "string"}, "constructor": {"type": "string"}}') as JsonObject;
    const { input } = fill('Act with constructor=x', properties, ['constructor']);
    expect(Object.entries(input)).toEqual([['constructor', 'x']]);
  });
});
