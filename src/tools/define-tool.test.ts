import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { CallContext, Json } from '../contracts/index.ts';
import { checkTool, defineTool, structured, ToolFailure, text } from './index.ts';

function context(more: Partial<CallContext> = {}): CallContext {
  return {
    callId: 'call-1',
    who: { agent: 'tester', via: 'library' },
    signal: new AbortController().signal,
    idleMs: 1_000,
    hardMs: 1_000,
    ...more,
  };
}

const refund = defineTool(
  {
    name: 'refund',
    description: 'Refunds a transaction.',
    input: z.object({
      transaction: z.string(),
      amount: z.number().int().positive().optional(),
      note: z.string().default('none'),
      tags: z.array(z.object({ key: z.string() })).optional(),
    }),
    annotations: { idempotentHint: true },
    examples: [{ transaction: 't-1' }],
  },
  async (input) => ({ transaction: input.transaction, note: input.note.toUpperCase() }),
);

describe('defineTool with a Standard Schema', () => {
  test('gives the model a closed schema without $schema', () => {
    const schema = refund.definition.inputSchema;
    expect(schema).toMatchObject({ type: 'object', required: ['transaction'], additionalProperties: false });
    expect(schema).not.toHaveProperty('$schema');
    expect(schema).toHaveProperty('properties.tags.items.additionalProperties', false);
  });

  test('keeps out of it what no author wrote', () => {
    const input = z.object({ n: z.number().int(), by: z.record(z.string(), z.number()), m: z.number().int().min(3) });
    const { definition } = defineTool({ name: 'n', description: 'N.', input }, () => '');
    expect(definition.inputSchema).toHaveProperty('properties', {
      n: { type: 'integer' },
      by: { type: 'object', additionalProperties: { type: 'number' } },
      m: { type: 'integer', minimum: 3 },
    });
  });

  test('leaves open what the author left open, and members of allOf', () => {
    const tool = defineTool(
      {
        name: 'open',
        description: 'Open.',
        input: {
          type: 'object',
          additionalProperties: true,
          properties: {
            both: {
              allOf: [
                { type: 'object', properties: { a: { type: 'string' } } },
                { type: 'object', properties: { b: { type: 'string' } } },
              ],
            },
          },
        },
      },
      () => 'ok',
    );
    expect(tool.definition.inputSchema).toHaveProperty('additionalProperties', true);
    expect(JSON.stringify(tool.definition.inputSchema)).not.toContain('"additionalProperties":false');
  });

  test('hands the handler the validated value, defaults applied', async () => {
    const result = await refund.call({ transaction: 't-1' }, context());
    expect(result).toMatchObject({ kind: 'result', isError: false });
    expect(result.kind === 'result' && result.raw.parse()).toMatchObject({
      structuredContent: { transaction: 't-1', note: 'NONE' },
    });
  });

  test('names each wrong field and what was expected, and runs nothing', async () => {
    const result = await refund.call({ amount: '12', colour: 'red' }, context());
    expect(result).toMatchObject({
      kind: 'failure',
      failure: { category: 'validation', retryable: true, executed: 'not_executed' },
    });
    const message = result.kind === 'failure' ? result.failure.message : '';
    expect(message).toContain('/transaction: required, missing');
    expect(message).toContain('/amount: expected integer, got string "12"');
    expect(message).toContain('/colour: not a known property; known: transaction, amount, note, tags');
  });

  test('says what a check beyond JSON Schema refuses', async () => {
    const tool = defineTool(
      {
        name: 'even',
        description: 'Takes even numbers.',
        input: z.object({ n: z.number().refine((n) => n % 2 === 0, 'must be even') }),
      },
      ({ n }) => n,
    );
    expect(await tool.call({ n: 3 }, context())).toMatchObject({
      failure: { category: 'validation', message: expect.stringContaining('/n: must be even') },
    });
  });

  test('refuses a schema that has no JSON form, and a library without JSON Schema', () => {
    const make = (input: { readonly '~standard': unknown }) =>
      defineTool({ name: 'x', description: 'X.', input: input as never }, () => '');
    expect(() => make(z.object({ when: z.date() }))).toThrow(/tool "x" has no JSON form/);
    const bare = { '~standard': { version: 1, vendor: 'acme', validate: (value: unknown) => ({ value }) } };
    expect(() => make(bare)).toThrow(/"acme", which gives no JSON Schema/);
    expect(() => make(z.string())).toThrow(/of type "string"/);
  });
});

describe('defineTool with plain JSON Schema', () => {
  test('types the input from the schema', async () => {
    const tool = defineTool(
      {
        name: 'add',
        description: 'Adds.',
        input: {
          type: 'object',
          properties: { a: { type: 'number' }, b: { type: 'number' }, how: { enum: ['sum', 'max'] } },
          required: ['a', 'b'],
        },
      },
      ({ a, b, how }) => {
        const mode: 'sum' | 'max' | undefined = how;
        return mode === 'max' ? Math.max(a, b) : a + b;
      },
    );
    const result = await tool.call({ a: 2, b: 3 }, context());
    expect(result.kind === 'result' && result.raw.parse()).toEqual({
      content: [{ type: 'text', text: '5' }],
      structuredContent: 5,
    });
    expect(tool.definition.inputSchema).toHaveProperty('additionalProperties', false);
  });
});

describe('a definition', () => {
  test('takes its effect from the annotations and says it back in them', () => {
    const base = { name: 'a', description: 'A.', input: {} };
    const effect = (more: object) => defineTool({ ...base, ...more }, () => '').definition;
    expect(refund.definition.effect).toBe('idempotent');
    expect(effect({}).effect).toBe('write');
    expect(effect({ annotations: { readOnlyHint: true } }).effect).toBe('read');
    expect(effect({ effect: 'read' }).annotations).toEqual({ readOnlyHint: true });
    expect(() => effect({ effect: 'write', annotations: { readOnlyHint: true } })).toThrow(/readOnlyHint/);
  });

  test('is refused with a name that no host takes, or without a description', () => {
    const make = (name: string, description: string) => () => defineTool({ name, description, input: {} }, () => '');
    expect(make('a.b', 'x')).toThrow(/can't be called "a\.b"/);
    expect(make('a'.repeat(65), 'x')).toThrow(/can't be called/);
    expect(make('a', ' ')).toThrow(/has no description/);
  });

  test('carries the hints only where they are set', () => {
    expect(refund.definition.hints).toEqual({ examples: [{ transaction: 't-1' }] });
    expect(defineTool({ name: 'a', description: 'A.', input: {} }, () => '').definition.hints).toBeUndefined();
  });

  test('has a fingerprint that follows its content', () => {
    const print = (description: string) =>
      defineTool({ name: 'a', description, input: {} }, () => '').definition.ref.fingerprint;
    expect(print('one')).toBe(print('one'));
    expect(print('one')).not.toBe(print('two'));
  });
});

describe('a handler', () => {
  const tool = (handler: () => unknown) => defineTool({ name: 't', description: 'T.', input: {} }, handler);
  const raw = async (handler: () => unknown): Promise<Json> => {
    const result = await tool(handler).call({}, context());
    return result.kind === 'result' ? result.raw.parse() : { failed: JSON.stringify(result) };
  };

  test('may return a string, JSON, blocks, a whole result, or nothing', async () => {
    expect(await raw(() => 'hi')).toEqual({ content: [{ type: 'text', text: 'hi' }] });
    expect(await raw(() => [])).toEqual({ content: [{ type: 'text', text: '[]' }], structuredContent: [] });
    expect(await raw(() => [text('a'), text('b')])).toEqual({
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    });
    expect(await raw(() => ({ content: [{ type: 'text', text: 'x' }], isError: true }))).toMatchObject({
      isError: true,
    });
    expect(await raw(() => undefined)).toEqual({ content: [] });
    expect(await raw(() => structured({ n: 1 }, text('more')))).toEqual({
      content: [
        { type: 'text', text: '{"n":1}' },
        { type: 'text', text: 'more' },
      ],
      structuredContent: { n: 1 },
    });
  });

  test('that throws a ToolFailure fails in its words; anything else is a business failure that may have run', async () => {
    const failure = new ToolFailure('Too late.', { category: 'business', alternatives: ['exchange'] });
    const thrown = (error: unknown) =>
      tool(() => {
        throw error;
      }).call({}, context());
    expect(await thrown(failure)).toEqual({ kind: 'failure', failure: failure.failure });
    const other = await thrown(new Error('disk full'));
    expect(other).toEqual({
      kind: 'failure',
      failure: { category: 'business', retryable: false, message: 'disk full', executed: 'unknown', attempts: [] },
    });
    expect(await thrown('plain text')).toMatchObject({ failure: { message: 'plain text' } });
  });

  test('that returns what JSON cannot say has executed and failed', async () => {
    const result = await tool(() => 1n).call({}, context());
    expect(result).toMatchObject({ kind: 'failure', failure: { executed: 'executed' } });
  });

  test('knows its caller and can report progress and log', async () => {
    const events: string[] = [];
    const talks = defineTool({ name: 't', description: 'T.', input: {} }, (_, ctx) => {
      ctx.progress(1, 2, 'half');
      ctx.log({ step: 1 }, 'debug');
      return ctx.who.agent;
    });
    const result = await talks.call({}, context({ onEvent: (e) => events.push(`${e.kind} ${e.raw.text}`) }));
    expect(events).toEqual([
      'progress {"progress":1,"total":2,"message":"half"}',
      'log {"level":"debug","data":{"step":1}}',
    ]);
    expect(result).toMatchObject({ raw: { text: expect.stringContaining('tester') } });
  });

  test('that is cancelled fails as one whose effect is unknown', async () => {
    const abort = new AbortController();
    const slow = defineTool({ name: 't', description: 'T.', input: {} }, () => {
      abort.abort();
      throw new Error('stopped');
    });
    const result = await slow.call({}, context({ signal: abort.signal }));
    expect(result).toMatchObject({ failure: { category: 'transient', retryable: false, executed: 'unknown' } });
  });
});

describe('a preview', () => {
  test("of the author's function runs on checked input", async () => {
    const tool = defineTool(
      {
        name: 'pay',
        description: 'Pays.',
        input: z.object({ id: z.string() }),
        preview: ({ id }) => ({ id, amount: 12 }),
      },
      () => 'paid',
    );
    expect(tool.definition.preview).toEqual({ kind: 'author' });
    expect(await tool.preview?.({ id: 'x' }, context())).toEqual({ id: 'x', amount: 12 });
    await expect(tool.preview?.({}, context())).rejects.toThrow(/required, missing/);
  });

  test('may be another tool, which the definition tells over MCP', () => {
    const { definition } = defineTool(
      {
        name: 'pay',
        description: 'Pays.',
        input: z.object({ id: z.string() }),
        preview: { tool: 'get', arguments: { key: '/id' } },
      },
      () => 'paid',
    );
    expect(definition.preview).toEqual({ kind: 'tool', by: 'server', tool: 'get', arguments: { key: '/id' } });
    expect(definition.raw.parse()).toHaveProperty(['_meta', 'bridle/preview'], {
      tool: 'get',
      arguments: { key: '/id' },
    });
  });
});

describe('checkTool', () => {
  test('finds examples that do not fit', async () => {
    expect(await checkTool(refund)).toEqual([]);
    const wrong = defineTool(
      {
        name: 'a',
        description: 'A.',
        input: { type: 'object', properties: { n: { type: 'number' } } } as const,
        examples: [{ m: 1 } as never],
      },
      () => '',
    );
    expect(await checkTool(wrong)).toMatchObject([{ code: 'example_invalid', text: expect.stringContaining('/m') }]);
  });

  test('finds flags by which a model would confirm its own call', async () => {
    const flagged = (name: string, type: 'boolean' | 'string', effect: 'read' | 'write') =>
      checkTool(
        defineTool(
          { name: 'pay', description: 'Pays.', effect, input: { type: 'object', properties: { [name]: { type } } } },
          () => '',
        ),
      );
    for (const name of [
      'confirm',
      'user_confirmed',
      'isApproved',
      'confirmedByUser',
      'human-consent',
      'skipConfirmation',
    ]) {
      expect(await flagged(name, 'boolean', 'write')).toMatchObject([
        { code: 'confirmation_by_model', text: expect.stringContaining(name) },
      ]);
    }
    expect(await flagged('dry_run', 'boolean', 'write')).toEqual([]);
    expect(await flagged('confirm', 'string', 'write')).toEqual([]);
    expect(await flagged('approved', 'boolean', 'read')).toEqual([]);
  });
});

test.each([
  ['stands on a number', { n: { type: 'number', 'x-mcp-header': 'N' } }],
  ['stands on an object', { n: { type: 'object', 'x-mcp-header': 'N' } }],
  ['is no header name', { n: { type: 'string', 'x-mcp-header': 'a b' } }],
  [
    'stands twice but for its case',
    { a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } },
  ],
  ['stands in a list', { l: { type: 'array', items: { type: 'string', 'x-mcp-header': 'N' } } }],
])('a header of a parameter that %s is refused at once', (_, properties) => {
  const input = { type: 'object', properties };
  expect(() => defineTool({ name: 't', description: 'A tool.', input }, () => '')).toThrow(
    /No client would take tool "t"/,
  );
});

test('icons and _meta stand in the definition as it is served', () => {
  const icons = [{ src: 'https://example.com/i.png', sizes: ['48x48'] }];
  const options = {
    name: 't',
    description: 'A tool.',
    input: { type: 'object' },
    icons,
    _meta: { 'example.com/x': 1 },
  };
  expect(defineTool(options, () => '').definition.raw.parse()).toMatchObject({ icons, _meta: { 'example.com/x': 1 } });
});
