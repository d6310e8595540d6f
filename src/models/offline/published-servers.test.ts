import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../contracts/index.ts';
import { offlineModel, traceValues } from './index.ts';

const require = createRequire(import.meta.url);
const clients = new Map<string, Client>();
const tools: JsonObject[] = [];
let folder = '';

async function start(key: string, name: string, args: readonly string[], env: Record<string, string> = {}) {
  const manifest = require.resolve(`${name}/package.json`);
  const bin = Object.values((require(manifest) as { bin: Record<string, string> }).bin)[0] ?? '';
  const client = new Client({ name: 'test', version: '1.0.0' });
  const path = { PATH: process.env.PATH ?? '' };
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(dirname(manifest), bin), ...args],
      env: { ...path, ...env },
      stderr: 'ignore',
    }),
  );
  clients.set(key, client);
  for (const one of (await client.listTools()).tools) {
    tools.push({
      name: `mcp__${key}__${one.name}`,
      description: one.description ?? '',
      input_schema: one.inputSchema as Json,
    });
  }
}

/** One conversation with the servers; every value passed must have an origin. */
async function talk(lines: readonly string[]) {
  const model = offlineModel();
  const messages: Json[] = [];
  const calls: { name: string; input: Json }[] = [];
  const replies: string[] = [];
  for (const line of lines) {
    messages.push({ role: 'user', content: line });
    for (let turn = 0; turn < 8; turn++) {
      const request = { messages: [...messages], tools };
      const { message, stopReason } = await model.respond(request, { signal: new AbortController().signal });
      const content = (message as { content: JsonObject[] }).content;
      messages.push({ role: 'assistant', content });
      if (stopReason !== 'tool_use') {
        replies.push(content.map((block) => String(block.text)).join('\n'));
        break;
      }
      const results: Json[] = [];
      for (const block of content) {
        expect(traceValues(request, block).filter(({ source }) => source === 'unexplained')).toEqual([]);
        const [, key = '', name = ''] = /^mcp__(\w+?)__(.+)$/.exec(String(block.name)) ?? [];
        calls.push({ name, input: block.input ?? {} });
        const result = await clients.get(key)?.callTool({ name, arguments: block.input as Record<string, unknown> });
        const isError = result?.isError === true;
        results.push({
          type: 'tool_result',
          tool_use_id: String(block.id),
          content: result?.content as Json,
          ...(isError && { is_error: true }),
        });
      }
      messages.push({ role: 'user', content: results });
    }
  }
  return { calls, replies, last: replies.at(-1) ?? '' };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offline-'));
  await writeFile(join(folder, 'notes.txt'), 'Buy milk and eggs.\nCall Ada.\n');
  await start('fs', '@modelcontextprotocol/server-filesystem', [folder]);
  await start('memory', '@modelcontextprotocol/server-memory', [], { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') });
  await start('everything', '@modelcontextprotocol/server-everything', []);
});

afterAll(async () => {
  await Promise.all([...clients.values()].map((client) => client.close()));
  await rm(folder, { recursive: true, force: true });
});

describe('with the tools of three published servers and no rule for them, the planner', () => {
  test('reads a named file and quotes its first line', async () => {
    const { calls, last } = await talk([`Read the file notes.txt in ${folder} and quote its first line`]);
    expect(calls).toEqual([{ name: 'read_text_file', input: { path: join(folder, 'notes.txt') } }]);
    expect(last).toBe('The first line is: “Buy milk and eggs.”');
  });

  test('lists a directory', async () => {
    const { calls, last } = await talk([`List the directory ${folder}`]);
    expect(calls).toEqual([{ name: 'list_directory', input: { path: folder } }]);
    expect(last).toContain('notes.txt');
  });

  test('creates an entity and finds it again', async () => {
    const { calls, last } = await talk([
      "Create an entity named Ada of type person with the observation 'likes chess'",
      'Find Ada',
    ]);
    expect(calls).toEqual([
      {
        name: 'create_entities',
        input: { entities: [{ name: 'Ada', entityType: 'person', observations: ['likes chess'] }] },
      },
      { name: 'search_nodes', input: { query: 'Ada' } },
    ]);
    expect(last).toContain('name Ada, entity type person, observations likes chess');
  });

  test('adds two numbers, told as a command or asked as a question', async () => {
    const { calls, replies } = await talk(['Add 2 and 3', 'What is 17 plus 25?']);
    expect(calls).toEqual([
      { name: 'get-sum', input: { a: 2, b: 3 } },
      { name: 'get-sum', input: { a: 17, b: 25 } },
    ]);
    expect(replies[0]).toContain('5');
    expect(replies[1]).toContain('42');
  });

  test('writes what it was told to, moves it, and reads it back', async () => {
    const [from, to] = [join(folder, 'new.txt'), join(folder, 'kept.txt')];
    const { calls, last } = await talk([
      `Write 'hello there' to the file ${from}`,
      `Move ${from} to ${to}`,
      `Read ${to}`,
    ]);
    expect(calls).toEqual([
      { name: 'write_file', input: { path: from, content: 'hello there' } },
      { name: 'move_file', input: { source: from, destination: to } },
      { name: 'read_text_file', input: { path: to } },
    ]);
    expect(last).toBe('hello there');
  });

  test('asks for the path it isn’t told', async () => {
    const { calls, last } = await talk(['Read a file']);
    expect(calls).toEqual([]);
    expect(last).toBe('I need the path for this: what should it be?');
  });

  test.each(['Write me a poem', 'What’s the capital of France?', 'Delete everything'])(
    'calls nothing for: %s',
    async (line) => {
      const { calls, last } = await talk([line]);
      expect(calls).toEqual([]);
      expect(last).toMatch(/^None of my tools fits/);
    },
  );
});
