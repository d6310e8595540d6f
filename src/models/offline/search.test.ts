import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../contracts/index.ts';
import { searchTool, toApiTool } from '../../tools/index.ts';
import { plan } from './plan.ts';

const FINDER = toApiTool(searchTool(() => false));
const tool = (name: string, description: string): JsonObject => ({
  name,
  description,
  input_schema: { type: 'object', properties: { to: { type: 'string', description: 'Whom.' } } },
});
const GREET = tool('say_hello', 'Says hello to somebody.');
const BOOK = tool('book_flight', 'Books a flight.');

const ask = (tools: Json[], ...messages: Json[]): Json => ({
  tools,
  messages: [{ role: 'user', content: 'Book a flight.' }, ...messages],
});
const searched = (query: string, found: string): Json[] => [
  { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'find_tools', input: { query } }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: found }] },
];

describe('the planner searches for a tool', () => {
  test('where none fits, in the words of the request', () => {
    expect(plan(ask([FINDER, GREET]))).toMatchObject({
      kind: 'call',
      calls: [{ name: 'find_tools', input: { query: 'Book a flight' } }],
    });
    expect(plan(ask([FINDER, GREET, BOOK]))).toMatchObject({ kind: 'call', calls: [{ name: 'book_flight' }] });
  });

  test('once, and then calls what was found, or says that there is none', () => {
    const first = plan(ask([FINDER, GREET]));
    const query = first.kind === 'call' ? String(first.calls[0]?.input.query) : '';
    const found = searched(query, 'Found, and among your tools from here on: book_flight.');
    expect(plan(ask([FINDER, GREET, BOOK], ...found))).toMatchObject({
      kind: 'call',
      calls: [{ name: 'book_flight' }],
    });
    expect(plan(ask([FINDER, GREET], ...searched(query, 'No tool was found.')))).toMatchObject({ kind: 'say' });
  });
});
