import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../contracts/index.ts';
import { traceValues } from './index.ts';
import { plan } from './plan.ts';

const schema: JsonObject = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    count: { type: 'integer', default: 10 },
    unit: { enum: ['metric', 'imperial'] },
    kind: { const: 'fixed' },
    path: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
  },
};

const request: Json = {
  tools: [{ name: 'act', description: '', input_schema: schema }],
  messages: [
    { role: 'user', content: 'Look at O-104 in 3 metric tons; notes.txt in /tmp/x' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'get', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '{"tx": "TX-1", "n": 77}' }] },
  ],
};

const origin = (input: JsonObject) =>
  traceValues(request, { name: 'act', input }).map(({ path, source }) => [path, source]);

describe('traceValues', () => {
  test.each([
    [{ id: 'O-104' }, '/id', 'conversation'],
    [{ count: 3 }, '/count', 'conversation'],
    [{ id: 'TX-1' }, '/id', 'result'],
    [{ count: 77 }, '/count', 'result'],
    [{ count: 10 }, '/count', 'default'],
    [{ unit: 'metric' }, '/unit', 'enum'],
    [{ kind: 'fixed' }, '/kind', 'const'],
    [{ path: '/tmp/x/notes.txt' }, '/path', 'joined'],
    [{ tags: ['O-104'] }, '/tags/0', 'conversation'],
  ] as const)('finds the origin of %j', (input, path, source) => {
    expect(origin(input as unknown as JsonObject)).toEqual([[path, source]]);
  });

  test.each([
    [{ id: 'O-10' }],
    [{ id: 'O-105' }],
    [{ count: 4 }],
    [{ unit: 'imperial' }],
    [{ path: '/tmp/y/notes.txt' }],
    [{ tags: ['O-104', 'made up'] }],
    [{ 'a/b': true }],
  ] as const)('explains no value that stands nowhere: %j', (input) => {
    expect(origin(input as unknown as JsonObject).map(([, source]) => source)).toContain('unexplained');
  });

  test('gives paths as JSON Pointers', () => {
    expect(origin({ 'a/b': { '~': 'O-104' } })).toEqual([['/a~1b/~0', 'conversation']]);
  });

  test('answers a request or a call that isn’t one', () => {
    expect(traceValues(null, null)).toEqual([]);
    expect(traceValues({}, { name: 'constructor', input: { x: 1 } })).toEqual([
      { path: '/x', value: 1, source: 'unexplained' },
    ]);
  });
});

const text = (description: string): JsonObject => ({ type: 'string', description });
const definition = (name: string, description: string, properties: JsonObject, required: string[]): Json => ({
  name,
  description,
  input_schema: { type: 'object', properties, required },
});
const toolbox: Json[] = [
  definition('get_order', 'Look up an order', { order_id: text('The order id, e.g. O-104') }, ['order_id']),
  definition('refund_payment', 'Refund a payment', { payment_id: text('The payment id') }, ['payment_id']),
  definition('read_file', 'Read a file', { path: text('Path of the file'), head: { type: 'number' } }, ['path']),
  definition('move_file', 'Move a file', { source: text(''), destination: text('') }, ['source', 'destination']),
  definition('add_numbers', 'Add two numbers', { a: { type: 'number' }, b: { type: 'number' } }, ['a', 'b']),
  definition(
    'search_notes',
    'Search notes',
    { query: text('What to search for'), limit: { type: 'integer', default: 5 } },
    ['query'],
  ),
  definition(
    'set_status',
    'Set the status of a task',
    { task_id: text('e.g. TASK-1'), status: { enum: ['open', 'done'] } },
    ['task_id', 'status'],
  ),
  definition(
    'create_contact',
    'Create contacts',
    {
      contacts: {
        type: 'array',
        items: {
          type: 'object',
          properties: { name: text(''), tags: { type: 'array', items: text('') } },
          required: ['name', 'tags'],
        },
      },
    },
    ['contacts'],
  ),
];

const words = fc.constantFrom(
  ...(
    'please refund get read move add search set find create order payment file number note status task contact the a of in from to ' +
    'for and then named with it its first line where is what my open done tags'
  ).split(' '),
);
const values = fc.oneof(
  fc.constantFrom(
    'O-104',
    'TASK-9',
    '/tmp/x',
    '/tmp/x/a.txt',
    'notes.txt',
    '42',
    '-3.5',
    '1,200',
    "'two words'",
    '"x y"',
    'Ada',
    'New York',
    'bob@example.com',
    'head=3',
    '2026-12-04',
  ),
  fc.stringMatching(/^[A-Za-z0-9_./:'"-]{1,12}$/),
);
const sentence = fc
  .array(fc.oneof({ weight: 3, arbitrary: words }, values), { minLength: 1, maxLength: 14 })
  .map((parts) => parts.join(' '));
const result = fc.oneof(
  fc
    .record({ order_id: fc.constantFrom('O-104', 'O-7'), payment_id: fc.string({ maxLength: 8 }) })
    .map((value) => JSON.stringify(value)),
  fc.json({ maxDepth: 3 }),
  fc.string({ maxLength: 40 }),
);

describe('the planner', () => {
  test('passes no value without an origin, and comes to an end, whatever is said and whatever comes back', () => {
    fc.assert(
      fc.property(
        fc.array(sentence, { minLength: 1, maxLength: 3 }),
        fc.array(result, { minLength: 1, maxLength: 4 }),
        (lines, results) => {
          const messages: Json[] = [];
          for (const line of lines) {
            messages.push({ role: 'user', content: line });
            for (let turn = 0; ; turn++) {
              expect(turn).toBeLessThan(30);
              const body = { messages: [...messages], tools: toolbox };
              const next = plan(body);
              if (next.kind !== 'call') {
                messages.push({ role: 'assistant', content: [{ type: 'text', text: next.text }] });
                break;
              }
              const uses = next.calls.map(({ name, input }, at) => ({
                type: 'tool_use',
                id: `t${messages.length}_${at}`,
                name,
                input,
              }));
              for (const use of uses) {
                expect(traceValues(body, use).filter(({ source }) => source === 'unexplained')).toEqual([]);
              }
              messages.push({ role: 'assistant', content: uses });
              messages.push({
                role: 'user',
                content: uses.map(({ id }, at) => ({
                  type: 'tool_result',
                  tool_use_id: id,
                  content: results[(turn + at) % results.length] ?? '',
                })),
              });
            }
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});
