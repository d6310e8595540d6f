import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json, ServerRef } from '../contracts/index.ts';
import { defineTool, definitionFromMcp, definitionToMcp, type McpDefinition, rawFrom, rawJson } from './index.ts';

const server: ServerRef = { key: 'files', scope: 'project', fingerprint: 'f', trustAnnotations: false };

function read(entry: Json, options?: { trustAnnotations?: boolean }): McpDefinition {
  return definitionFromMcp(server, rawFrom(entry), options);
}

function tool(entry: Json, options?: { trustAnnotations?: boolean }) {
  const result = read(entry, options);
  if (!('tool' in result)) throw new Error(JSON.stringify(result));
  return result;
}

const object = { type: 'object' };

describe('definitionFromMcp', () => {
  test('reads a definition and keeps it whole', () => {
    const entry = { name: 'read', title: 'Read', description: 'Reads.', inputSchema: object, icons: [{ src: 'x' }] };
    const { tool: read1, notes } = tool(entry);
    expect(notes).toEqual([]);
    expect(read1).toMatchObject({
      ref: { server, tool: 'read', name: 'mcp__files__read' },
      title: 'Read',
      description: 'Reads.',
      inputSchema: object,
      effect: 'write',
    });
    expect(read1.raw.parse()).toEqual(entry);
  });

  test.each<[string, string, Json]>([
    ['no object', 'tool_not_object', 'read'],
    ['no name', 'tool_unnamed', { inputSchema: object }],
    ['a blank name', 'tool_unnamed', { name: ' ', inputSchema: object }],
    ['a name that is no text', 'tool_unnamed', { name: 7, inputSchema: object }],
    ['an endless name', 'tool_name_too_long', { name: 'x'.repeat(2_000), inputSchema: object }],
    ['a schema that is no object', 'schema_not_object', { name: 'a', inputSchema: 'object' }],
    [
      'a broken schema',
      'schema_invalid',
      { name: 'a', inputSchema: { type: 'object', properties: { a: { type: 'strng' } } } },
    ],
  ])('sets aside, with the reason, a definition with %s', (_, code, entry) => {
    expect(read(entry)).toMatchObject({ setAside: [{ room: 'tools', code }] });
  });

  test('sets aside what is not JSON, or too deep to read, without a throw', () => {
    expect(definitionFromMcp(server, rawJson('{'))).toMatchObject({ setAside: [{ code: 'tool_not_json' }] });
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const raw = rawJson(`{"name":"a","inputSchema":{"type":"object"},"_meta":${deep}}`);
    expect(definitionFromMcp(server, raw)).toMatchObject({ name: 'a', setAside: [{ code: 'tool_too_deep' }] });
  });

  test.each([
    [499, 'tool'],
    [500, 'setAside'],
    [2_000, 'setAside'],
  ])('takes no definition that could not be compared and recorded later: %i levels in its _meta', (depth, kept) => {
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const raw = rawJson(`{"name":"a","inputSchema":{"type":"object"},"_meta":${deep}}`);
    expect(definitionFromMcp(server, raw)).toHaveProperty(kept);
  });

  test('takes a tool without a schema as one that says nothing of its arguments', () => {
    expect(tool({ name: 'ping' }).tool).toMatchObject({ inputSchema: object, description: '' });
  });

  test.each(['constructor', '__proto__', 'toString'])('reads a tool called %s like any other', (name) => {
    expect(tool({ name, inputSchema: object }).tool.ref.name).toBe(`mcp__files__${name}`);
  });

  test('leaves a broken output schema out and keeps the tool', () => {
    const { tool: kept, notes } = tool({ name: 'a', inputSchema: object, outputSchema: { type: 'lst' } });
    expect(kept).not.toHaveProperty('outputSchema');
    expect(notes).toMatchObject([{ code: 'output_schema_ignored' }]);
    expect(definitionToMcp(kept)).not.toHaveProperty('outputSchema');
  });

  test('believes annotations only of a server that is trusted', () => {
    const entry = { name: 'a', inputSchema: object, annotations: { readOnlyHint: true } };
    expect(tool(entry).tool.effect).toBe('write');
    expect(tool(entry, { trustAnnotations: true }).tool.effect).toBe('read');
    const trusted = definitionFromMcp({ ...server, trustAnnotations: true }, rawFrom(entry));
    expect('tool' in trusted && trusted.tool.effect).toBe('read');
    expect(tool({ ...entry, annotations: { idempotentHint: true } }, { trustAnnotations: true }).tool.effect).toBe(
      'idempotent',
    );
  });

  test('shows a description without hidden characters, and cut where it is endless', () => {
    const { tool: cut, notes } = tool({ name: 'a', inputSchema: object, description: `x\u202e${'y'.repeat(20_000)}` });
    expect(cut.description.length).toBe(16 * 1024 + 1);
    expect(cut.description.startsWith('xyy')).toBe(true);
    expect(notes).toMatchObject([{ code: 'description_cut' }]);
  });

  test('reads the preview that the definition names, and notes one it cannot read', () => {
    const withPreview = (preview: Json) =>
      tool({ name: 'pay', inputSchema: object, _meta: { 'bridle/preview': preview } });
    expect(withPreview({ tool: 'get', arguments: { id: '/order/id', whole: '' } }).tool.preview).toEqual({
      kind: 'tool',
      tool: 'get',
      arguments: { id: '/order/id', whole: '' },
      by: 'server',
    });
    for (const bad of ['get', { tool: 'get' }, { tool: 'get', arguments: { id: 'order' } }, { arguments: {} }]) {
      const { tool: plain, notes } = withPreview(bad);
      expect(plain.preview).toBeUndefined();
      expect(notes).toMatchObject([{ code: 'preview_ignored' }]);
    }
  });

  test('gives a fingerprint that ignores the order of members and nothing else', () => {
    const print = (entry: Json) => tool(entry).tool.ref.fingerprint;
    expect(print({ name: 'a', description: 'd', inputSchema: object })).toBe(
      print({ inputSchema: object, description: 'd', name: 'a' }),
    );
    expect(print({ name: 'a', inputSchema: object })).not.toBe(print({ name: 'a', inputSchema: object, x: 1 }));
  });
});

describe('definitionToMcp', () => {
  test('gives the wire name, the checked fields and the unknown ones', () => {
    const entry = {
      name: 'files.read',
      title: 'Read',
      description: 'Reads.',
      inputSchema: object,
      outputSchema: object,
      annotations: { readOnlyHint: true },
      icons: [{ src: 'x' }],
      _meta: { other: 1 },
    };
    const { tool: definition } = tool(entry);
    expect(definitionToMcp(definition)).toEqual({ ...entry, name: definition.ref.name });
  });

  test('is read back by definitionFromMcp as the same tool, preview and all', () => {
    const { definition } = defineTool(
      {
        name: 'pay',
        title: 'Pay',
        description: 'Pays.',
        input: z.object({ id: z.string() }),
        output: z.object({ done: z.boolean() }),
        effect: 'idempotent',
        preview: { tool: 'get', arguments: { id: '/id' } },
      },
      () => ({ done: true }),
    );
    const back = tool(definitionToMcp(definition), { trustAnnotations: true }).tool;
    for (const key of [
      'title',
      'description',
      'inputSchema',
      'outputSchema',
      'annotations',
      'effect',
      'preview',
    ] as const) {
      expect(back[key]).toEqual(definition[key]);
    }
  });

  test("names a server's preview tool as it is named here", () => {
    const { tool: definition } = tool({
      name: 'pay',
      inputSchema: object,
      _meta: { 'bridle/preview': { tool: 'get', arguments: {} } },
    });
    expect(definitionToMcp(definition)).toHaveProperty(['_meta', 'bridle/preview', 'tool'], 'mcp__files__get');
  });

  test('says in which dialect an author wrote a schema, and tells a model none', () => {
    const $schema = 'https://json-schema.org/draft/2020-12/schema';
    const fields = { type: 'object', properties: { n: { type: 'integer' } } } as const;
    const named = { $schema, ...fields } as const;
    const { definition } = defineTool({ name: 'count', description: 'x', input: named, output: named }, () => ({
      n: 1,
    }));
    expect(definition.inputSchema).not.toHaveProperty('$schema');
    expect(definitionToMcp(definition)).toMatchObject({ inputSchema: { $schema }, outputSchema: { $schema } });
    const plain = defineTool({ name: 'count', description: 'x', input: fields }, () => 1).definition;
    expect(definitionToMcp(plain).inputSchema).not.toHaveProperty('$schema');
    const generated = defineTool(
      { name: 'count', description: 'x', input: z.object({ n: z.int() }) },
      () => 1,
    ).definition;
    expect(definitionToMcp(generated).inputSchema).not.toHaveProperty('$schema');
  });
});
