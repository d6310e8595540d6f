/**
 * What every client does with a server: lists, calls, reads a resource, gets a prompt, hears of a change and answers a
 * question. The official clients do all six, over either transport.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const SERVER = fileURLToPath(new URL('../gateway/fixture-server.mjs', import.meta.url));
const STDIO = { command: process.execPath, args: [SERVER], stderr: 'pipe' as const };
const INFO = { name: 'test', version: '1' };
const CAPABILITIES = { elicitation: {} };
const ACCEPTED = { action: 'accept' as const, content: { part: 'three' } };

interface Acts {
  readonly revision: string | undefined;
  list(): Promise<readonly string[]>;
  call(name: string): Promise<unknown>;
  read(uri: string): Promise<unknown>;
  prompt(name: string, args: Record<string, string>): Promise<unknown>;
  /** Resolves with the address of the next resource that is told of as changed. */
  heard(uri: string): Promise<{ readonly next: Promise<string> }>;
  close(): Promise<void>;
}

const texts = (value: unknown) => JSON.stringify(value);

async function older(url: string | undefined): Promise<Acts> {
  const client = new OldClient(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(ElicitRequestSchema, () => ACCEPTED);
  const transport = url === undefined ? new OldStdio(STDIO) : new OldHttp(new URL(url));
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    revision: '2025-11-25',
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name) => client.callTool({ name, arguments: {} }),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    async heard(uri) {
      const next = new Promise<string>((resolve) => {
        client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri));
      });
      await client.subscribeResource({ uri });
      return { next };
    },
    close: () => client.close(),
  };
}

async function newer(url: string | undefined, mode: 'legacy' | 'auto' | { pin: '2026-07-28' }): Promise<Acts> {
  const client = new NewClient(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', () => ACCEPTED);
  await client.connect(url === undefined ? new NewStdio(STDIO) : new NewHttp(new URL(url)));
  const revision = client.getNegotiatedProtocolVersion();
  return {
    revision,
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name) => client.callTool({ name, arguments: {} }),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    async heard(uri) {
      const next = new Promise<string>((resolve) => {
        client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri));
      });
      if (revision === '2026-07-28') await client.listen({ resourceSubscriptions: [uri] });
      else await client.subscribeResource({ uri });
      return { next };
    },
    close: () => client.close(),
  };
}

const CLIENTS: readonly [string, string, (url?: string) => Promise<Acts>][] = [
  ['of SDK v1', '2025-11-25', (url) => older(url)],
  ['of SDK v2 that knows only older revisions', '2025-11-25', (url) => newer(url, 'legacy')],
  ['of SDK v2 that finds out', '2026-07-28', (url) => newer(url, 'auto')],
  ['of SDK v2 that knows only the newest', '2026-07-28', (url) => newer(url, { pin: '2026-07-28' })],
];

const server = fork(SERVER, ['--http'], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
let url = '';
beforeAll(async () => {
  [{ url }] = (await once(server, 'message')) as [{ url: string }];
}, 600_000);
afterAll(() => void server.kill());

describe.each(CLIENTS)('a client %s', (_, revision, connect) => {
  test.each(['stdio', 'HTTP'])(
    'does all six over %s',
    async (over) => {
      const client = await connect(over === 'HTTP' ? url : undefined);
      try {
        expect(client.revision).toBe(revision);
        expect(await client.list()).toContain('form');
        expect(texts(await client.call('counts'))).toContain('counted');
        expect(texts(await client.read('notes://one'))).toContain('note');
        expect(texts(await client.prompt('greet', { who: 'Ada' }))).toContain('Greet Ada.');
        const { next } = await client.heard('notes://one');
        await client.call('touch');
        expect(await next).toBe('notes://one');
        expect(texts(await client.call('form'))).toContain('part three');
      } finally {
        await client.close();
      }
    },
    600_000,
  );
});
