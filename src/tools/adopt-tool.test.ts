import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { CallContext, Json, ServerRef, Source } from '../contracts/index.ts';
import { adoptTool, defineTool, functionSource, type RunnableLike } from './index.ts';

const ctx: CallContext = {
  callId: 'call-1',
  who: { agent: 'tester', via: 'library' },
  signal: new AbortController().signal,
  idleMs: 1_000,
  hardMs: 1_000,
};

async function raw(tool: RunnableLike, args: Json): Promise<Json> {
  const result = await adoptTool(tool).call(args, ctx);
  return result.kind === 'result' ? result.raw.parse() : JSON.parse(JSON.stringify(result));
}

describe("the Anthropic SDK's runnable tools", () => {
  const weather = betaZodTool({
    name: 'weather',
    description: 'Tells the weather.',
    inputSchema: z.object({ city: z.string(), unit: z.enum(['c', 'f']).default('c') }),
    strict: true,
    input_examples: [{ city: 'Bonn', unit: 'c' }],
    run: ({ city, unit }) => `${city}: 20 ${unit}`,
  });

  test('are adopted with their schema and hints', () => {
    const { definition } = adoptTool(weather);
    expect(definition).toMatchObject({
      ref: { server: null, tool: 'weather', name: 'weather' },
      description: 'Tells the weather.',
      effect: 'write',
      hints: { strict: true, examples: [{ city: 'Bonn', unit: 'c' }] },
    });
    expect(definition.inputSchema).not.toHaveProperty('$schema');
    expect(definition.inputSchema).toMatchObject({ type: 'object', properties: { city: { type: 'string' } } });
  });

  test('run on parsed input, and answer with text or blocks', async () => {
    expect(await raw(weather, { city: 'Bonn', unit: 'f' })).toEqual({
      content: [{ type: 'text', text: 'Bonn: 20 f' }],
    });
    const blocks = betaTool({
      name: 'look',
      description: 'Looks.',
      inputSchema: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
      run: ({ at }) => [
        { type: 'text', text: at },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
      ],
    });
    expect(await raw(blocks, { at: 'here' })).toEqual({
      content: [
        { type: 'text', text: 'here' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'text', text: '{"type":"image","source":{"type":"url","url":"https://x/y.png"}}' },
      ],
    });
  });

  test('check their arguments before they run', async () => {
    expect(await raw(weather, { city: 1 })).toMatchObject({
      kind: 'failure',
      failure: { category: 'validation', executed: 'not_executed', message: expect.stringContaining('/city') },
    });
  });

  test('that throw a ToolError answer with its content as an error', async () => {
    const failing = betaTool({
      name: 'fail',
      description: 'Fails.',
      inputSchema: { type: 'object' },
      run: () => {
        throw new ToolError([{ type: 'text', text: 'try later' }]);
      },
    });
    expect(await raw(failing, {})).toEqual({ content: [{ type: 'text', text: 'try later' }], isError: true });
  });

  test('without a schema of their own are refused with what to do', () => {
    expect(() => adoptTool({ name: 'memory', run: () => '' })).toThrow(/has no input_schema/);
  });
});

describe("the Agent SDK's tool() objects", () => {
  const Node = z.object({
    name: z.string(),
    get kids() {
      return z.array(Node).optional();
    },
  });
  const add = {
    name: 'add',
    description: 'Adds.',
    inputSchema: { a: z.number(), b: z.coerce.number().default(2), note: z.string().optional(), tree: Node.optional() },
    annotations: { readOnlyHint: true },
    handler: async (args: { a: number; b: number; note?: string }) => ({
      content: [{ type: 'text', text: `${args.a + args.b}${args.note ?? ''}` }],
    }),
  };

  test('get a closed schema in which members that may be missing are optional', () => {
    const { definition } = adoptTool(add);
    expect(definition).toMatchObject({ effect: 'read', annotations: { readOnlyHint: true } });
    expect(definition.inputSchema).toMatchObject({ type: 'object', required: ['a'], additionalProperties: false });
    expect(definition.inputSchema).toHaveProperty('properties.note.type', 'string');
  });

  test('run on the validated members, defaults applied', async () => {
    expect(await raw(add, { a: 1 })).toEqual({ content: [{ type: 'text', text: '3' }] });
    expect(await raw(add, { a: 1, b: 4, note: '!', tree: { name: 'x', kids: [{ name: 'y' }] } })).toEqual({
      content: [{ type: 'text', text: '5!' }],
    });
    expect(await raw(add, { a: 1, tree: { name: 'x', kids: [{ name: 3 }] } })).toMatchObject({
      failure: { category: 'validation', message: expect.stringContaining('/tree/kids/0/name') },
    });
  });

  test('may have one schema for the whole input', async () => {
    const whole = { ...add, inputSchema: z.object({ a: z.number(), b: z.number() }) };
    expect(await raw(whole, { a: 1, b: 1 })).toEqual({ content: [{ type: 'text', text: '2' }] });
  });

  test('with a member that is no schema are refused', () => {
    expect(() => adoptTool({ ...add, inputSchema: { a: 'number' } })).toThrow(
      /input "a" of tool "add" is not a schema/,
    );
    expect(() => adoptTool({ name: 'x' } as never)).toThrow(/not a tool Bridle knows how to run/);
  });
});

describe('functionSource', () => {
  const hello = defineTool(
    {
      name: 'hello',
      description: 'Greets.',
      input: z.object({ name: z.string() }),
      preview: ({ name }) => ({ to: name }),
    },
    ({ name }) => `Hello ${name}`,
  );
  const plain = { name: 'plain', description: 'P.', inputSchema: {}, handler: () => 'ok' };
  const names = async (source: Source) => (await source.list(ctx.signal)).tools.map((t) => t.ref.name);

  test('lists its tools under their own names, or under a server', async () => {
    expect(await names(functionSource([hello, plain]))).toEqual(['hello', 'plain']);
    const server: ServerRef = { key: 'mine', scope: 'code', fingerprint: 'f', trustAnnotations: true };
    const source = functionSource([hello], { server });
    expect(source.server).toBe(server);
    expect(await names(source)).toEqual(['mcp__mine__hello']);
    expect(await source.call('hello', { name: 'Ada' }, ctx)).toMatchObject({ kind: 'result', isError: false });
  });

  test('previews through the author and fails for a tool it does not have', async () => {
    const source = functionSource([hello, plain]);
    expect(await source.preview?.('hello', { name: 'Ada' }, ctx)).toEqual({ to: 'Ada' });
    await expect(source.preview?.('plain', {}, ctx)).rejects.toThrow(/no preview/);
    for (const name of ['constructor', '__proto__', 'nope']) {
      expect(await source.call(name, {}, ctx)).toMatchObject({
        kind: 'failure',
        failure: { executed: 'not_executed' },
      });
    }
  });

  test('refuses two tools of one name', () => {
    expect(() => functionSource([hello, { ...plain, name: 'hello' }])).toThrow(/Two tools are called "hello"/);
  });
});
