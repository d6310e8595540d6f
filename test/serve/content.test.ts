import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { toolHost } from 'bridle';
import { serve } from 'bridle/server';
import { afterEach, describe, expect, test } from 'vitest';
import { CONTENT_SERVER, documents } from '../helpers/content-server.ts';
import { eventually } from '../helpers/mcp.ts';
import { isModern, KINDS, type Kind } from './clients.ts';

const INFO = { name: 'test', version: '1' };
const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** Either SDK's client, of a server at an address or of a program, and what it was told. */
async function connect(kind: Kind, url: string, agent = 'ann') {
  const program = { command: process.execPath, args: [url], stderr: 'pipe' as const };
  const overStdio = !url.startsWith('http:');
  const told: string[] = [];
  const requestInit = { headers: { 'x-agent': agent } };
  if (kind === 'v1') {
    const client = new LegacyClient(INFO);
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void told.push(params.uri));
    client.setNotificationHandler(ResourceListChangedNotificationSchema, () => void told.push('resources'));
    client.setNotificationHandler(PromptListChangedNotificationSchema, () => void told.push('prompts'));
    const transport = overStdio ? new LegacyStdio(program) : new LegacyHttp(new URL(url), { requestInit });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    open.push(client);
    const subscribe = async (uri: string) => void (await client.subscribeResource({ uri }));
    return { client, told, subscribe };
  }
  const mode = kind === 'v2 legacy' ? 'legacy' : kind === 'v2 auto' ? 'auto' : { pin: '2026-07-28' };
  const client = new ModernClient(INFO, { versionNegotiation: { mode } });
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri));
  client.setNotificationHandler('notifications/resources/list_changed', () => void told.push('resources'));
  client.setNotificationHandler('notifications/prompts/list_changed', () => void told.push('prompts'));
  await client.connect(overStdio ? new ModernStdio(program) : new ModernHttp(new URL(url), { requestInit }));
  open.push(client);
  const subscribe = async (uri: string) => {
    if (!isModern(kind)) return void (await client.subscribeResource({ uri }));
    const filter = { resourceSubscriptions: [uri], resourcesListChanged: true, promptsListChanged: true };
    await client.listen(filter);
  };
  return { client, told, subscribe };
}

async function start() {
  const server = await documents();
  open.push(server);
  return server;
}

/** Version 2 of the SDK reads the older code as the newer one. */
const noResource = (kind: Kind) => (kind === 'v1' ? -32002 : -32602);
const codeOf = (call: Promise<unknown>) => call.then(String, (error: { code?: number }) => error.code);

describe.each(KINDS)('content over HTTP, a %s client', (kind) => {
  test('lists what it may see, and reads it', async () => {
    const { client } = await connect(kind, (await start()).url);
    expect((await client.listResources()).resources).toMatchObject([
      { uri: 'docs://plan', name: 'plan.md', mimeType: 'text/markdown' },
    ]);
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: 'docs://documents/{id}' },
    ]);
    expect((await client.readResource({ uri: 'docs://plan' })).contents).toEqual([
      { uri: 'docs://plan', mimeType: 'text/markdown', text: '# Plan 0' },
    ]);
    expect((await client.readResource({ uri: 'docs://documents/report.pdf' })).contents).toEqual([
      { uri: 'docs://documents/report.pdf', blob: Buffer.from('%PDF').toString('base64') },
    ]);
  });

  test('gets prompts, and completes their arguments and the templates', async () => {
    const { client } = await connect(kind, (await start()).url);
    expect((await client.listPrompts()).prompts).toEqual([
      { name: 'format', description: 'Formats a document.', arguments: [{ name: 'id', required: true }] },
    ]);
    expect(await client.getPrompt({ name: 'format', arguments: { id: 'plan' } })).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: 'Format plan.' } }],
    });
    const template = { type: 'ref/resource', uri: 'docs://documents/{id}' } as const;
    const completed = await client.complete({ ref: template, argument: { name: 'id', value: 're' } });
    expect(completed.completion.values).toEqual(['report.pdf']);
    const prompt = { type: 'ref/prompt', name: 'format' } as const;
    expect((await client.complete({ ref: prompt, argument: { name: 'id', value: '' } })).completion.values).toEqual([
      'plan.md',
    ]);
    expect(await codeOf(client.getPrompt({ name: 'format' }))).toBe(-32602);
    expect(await codeOf(client.getPrompt({ name: 'other' }))).toBe(-32602);
  });

  test('reads of a hidden resource what it reads of one that is not there', async () => {
    const { client } = await connect(kind, (await start()).url);
    for (const uri of ['docs://secret', 'docs://absent', 'docs://documents/none'])
      expect(await codeOf(client.readResource({ uri }))).toBe(noResource(kind));
  });

  test('is told of changes of what it subscribed to, and of the lists', async () => {
    const server = await start();
    const { client, told, subscribe } = await connect(kind, server.url);
    await subscribe('docs://plan');
    server.edit();
    expect(await eventually(() => told.includes('docs://plan'))).toBe(true);
    expect((await client.readResource({ uri: 'docs://plan' })).contents).toMatchObject([{ text: '# Plan 1' }]);
    server.grow();
    expect(await eventually(() => told.includes('resources') && told.includes('prompts'))).toBe(true);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['docs://plan', 'docs://new']);
  });

  test('is told nothing of a resource that only others see', async () => {
    const server = await start();
    const ann = await connect(kind, server.url, 'ann');
    const bob = await connect(kind, server.url, 'bob');
    server.grant('bob');
    await expect.poll(async () => (await bob.client.listResources()).resources.length, { timeout: 90_000 }).toBe(2);
    for (const one of [ann, bob]) {
      await one.subscribe('docs://secret');
      await one.subscribe('docs://plan');
    }
    server.editSecret();
    server.edit();
    expect(await eventually(() => bob.told.includes('docs://secret') && ann.told.includes('docs://plan'))).toBe(true);
    expect(ann.told).not.toContain('docs://secret');
    expect(await codeOf(ann.client.readResource({ uri: 'docs://secret' }))).toBe(noResource(kind));
  });
});

test.each(KINDS)('over stdio, a %s client reads, and is told of changes while it is subscribed', async (kind) => {
  const { client, told, subscribe } = await connect(kind, CONTENT_SERVER);
  expect((await client.readResource({ uri: 'docs://plan' })).contents).toMatchObject([{ text: '# Plan 0' }]);
  for (const uri of ['docs://secret', 'docs://absent'])
    expect(await codeOf(client.readResource({ uri }))).toBe(noResource(kind));
  await subscribe('docs://plan');
  await client.callTool({ name: 'edit', arguments: {} });
  expect(await eventually(() => told.includes('docs://plan'))).toBe(true);
  await client.callTool({ name: 'grow', arguments: {} });
  expect(await eventually(() => told.includes('resources'))).toBe(true);
});

test('a host without content offers none', async () => {
  const handle = await serve(await toolHost({ tools: [] }), { http: { port: 0, token: false } });
  open.push(handle);
  const { client } = await connect('v1', handle.url ?? '');
  expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: true }, logging: {} });
});
