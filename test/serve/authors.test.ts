import { contentSource, defineResource, defineTool, type Tool, ToolFailure, toolHost } from 'bridle';
import type { Identity, JsonObject } from 'bridle/contracts';
import { serve } from 'bridle/server';
import { afterEach, describe, expect, test } from 'vitest';
import { connect, KINDS } from './clients.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const NONE = { type: 'object', properties: {} } as const;
const tool = (name: string, run: () => unknown = () => name, output?: JsonObject) =>
  defineTool({ name, description: `The tool ${name}.`, input: NONE, ...(output && { output }) }, run) as Tool;

async function start(options: Parameters<typeof toolHost>[0]) {
  const identify = async (headers: ReadonlyMap<string, string>): Promise<Identity | null> => ({
    agent: 'test',
    user: headers.get('x-who') ?? 'ada',
    via: 'gateway',
  });
  const handle = await serve(await toolHost(options), { http: { port: 0, identify } });
  open.push(handle);
  return handle.url as string;
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** One request of 2026-07-28, and its answer as JSON-RPC. */
async function send(url: string, method: string, params: JsonObject = {}, who = 'ada') {
  const name = params.name ?? params.uri;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      'x-who': who,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }),
  });
  const body = await response.text();
  const line = body.startsWith('{')
    ? body
    : (body.split('\n').find((each) => each.startsWith('data: {')) ?? '').slice(6);
  return JSON.parse(line) as { result?: Record<string, unknown>; error?: { code: number; message: string } };
}

const names = (result: Record<string, unknown> | undefined, member = 'tools') =>
  ((result?.[member] ?? []) as { name: string }[]).map(({ name }) => name);

describe('lists in pages', () => {
  const tools = Array.from({ length: 5 }, (_, n) => tool(`t${n}`));

  test('are whole in the end, and their cursors good for one caller and one list', async () => {
    const doc = (n: number) => defineResource({ uri: `doc:${n}`, name: `d${n}`, read: () => 'x' });
    const content = [contentSource({ resources: [doc(0), doc(1), doc(2)] })];
    const url = await start({ tools, content, pages: { size: 2 } });
    const seen: string[] = [];
    let cursor: unknown;
    do {
      const { result } = await send(url, 'tools/list', cursor === undefined ? {} : { cursor: cursor as string });
      seen.push(...names(result));
      expect(names(result).length).toBeLessThanOrEqual(2);
      cursor = result?.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(['t0', 't1', 't2', 't3', 't4']);

    const first = (await send(url, 'tools/list')).result?.nextCursor as string;
    const docs = (await send(url, 'resources/list')).result;
    expect(names(docs, 'resources')).toEqual(['d0', 'd1']);
    const rest = await send(url, 'resources/list', { cursor: docs?.nextCursor as string });
    expect(names(rest.result, 'resources')).toEqual(['d2']);
    const bad = { code: -32602, message: 'Invalid cursor' };
    expect((await send(url, 'tools/list', { cursor: first }, 'bob')).error).toMatchObject(bad);
    expect((await send(url, 'resources/list', { cursor: first })).error).toMatchObject(bad);
    for (const wrong of ['', 'AAAA', `${first}A`, 7, null])
      expect((await send(url, 'tools/list', { cursor: wrong })).error).toMatchObject(bad);
  });

  test('are not given unless they are asked for, and a cursor is none then', async () => {
    const url = await start({ tools });
    const { result } = await send(url, 'tools/list');
    expect([names(result).length, result?.nextCursor]).toEqual([5, undefined]);
    expect((await send(url, 'tools/list', { cursor: 'AAAA' })).error).toMatchObject({ code: -32602 });
  });
});

test('a tool that a caller does not see is called as one that is not there', async () => {
  const visible = ({ ref }: { ref: { tool: string } }, { user }: Identity) => ref.tool !== 'secret' || user === 'ada';
  const url = await start({ tools: [tool('open'), tool('secret')], visible });
  expect(names((await send(url, 'tools/list')).result)).toEqual(['open', 'secret']);
  expect(names((await send(url, 'tools/list', {}, 'bob')).result)).toEqual(['open']);
  expect((await send(url, 'tools/call', { name: 'secret' })).result).toMatchObject({ content: [{ text: 'secret' }] });
  const hidden = await send(url, 'tools/call', { name: 'secret' }, 'bob');
  const absent = await send(url, 'tools/call', { name: 'absent' }, 'bob');
  expect(hidden.error?.message.replace('secret', 'absent')).toBe(absent.error?.message);
  expect([hidden.error?.code, absent.error?.code]).toEqual([-32602, -32602]);
});

/** What goes wrong inside a tool, and what the model is told of it: category, and whether it ran. */
const WRONG: readonly [name: string, tool: Tool, category: string, ran: string][] = [
  ['arguments that do not fit', needy(), 'validation', 'not_executed'],
  ['a failure that the author throws', tool('f', fails(new ToolFailure('No.'))), 'business', 'not_executed'],
  ['an error that is thrown', tool('e', fails(new Error('boom'))), 'business', 'unknown'],
  ['a thrown value that is no error', tool('v', fails('boom')), 'business', 'unknown'],
  ['a result without a JSON form', tool('b', () => ({ big: 1n })), 'business', 'executed'],
  ['a result that refers to itself', tool('c', circle), 'business', 'executed'],
  ['a result that breaks the output schema', tool('o', () => ({ n: 'x' }), numbered()), 'validation', 'executed'],
];

function needy(): Tool {
  const input = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
  return defineTool({ name: 'needy', description: 'Needs a number.', input }, () => 'ran') as Tool;
}
function fails(error: unknown) {
  return () => {
    throw error;
  };
}
function circle() {
  const value: Record<string, unknown> = {};
  value.self = value;
  return value;
}
function numbered(): JsonObject {
  return { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
}

describe.each(KINDS)('a %s client', (kind) => {
  test.each(WRONG)('gets %s as a result with isError', async (_, wrong, category, ran) => {
    const client = await connect(kind, { url: await start({ tools: [wrong] }) });
    open.push(client);
    const result = await client.call(wrong.definition.ref.name);
    expect(result.isError).toBe(true);
    const [block] = result.content as { text: string }[];
    expect(JSON.parse(block?.text ?? '')).toMatchObject({ errorCategory: category, outcome: ran });
  });
});
