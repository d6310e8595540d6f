import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { McpServer as LegacyServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { JsonObject } from '../../src/contracts/index.ts';
import type { HttpServer } from '../../src/mcp/client/index.ts';
import { published } from './mcp.ts';

export interface Running {
  readonly url: string;
  close(): Promise<unknown>;
}

/** An HTTP server on any free port of 127.0.0.1; closing it breaks whatever is open. */
export async function listening(
  handler: RequestListener,
  port = 0,
): Promise<Running & { readonly port: number; connections(): number; breakAll(): void }> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer(handler);
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: bound } = server.address() as AddressInfo;
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${bound}/mcp`,
    port: bound,
    connections: () => connections,
    breakAll,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      breakAll();
      await closed;
    },
  };
}

export interface Asked {
  readonly verb: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The JSON-RPC message, or an empty object. */
  readonly body: JsonObject & { readonly id?: number; readonly method?: string };
  readonly request: IncomingMessage;
}

/** A server whose every answer a test writes itself. */
export async function faulty(
  answer: (asked: Asked, response: ServerResponse) => void,
  port = 0,
): Promise<Awaited<ReturnType<typeof listening>> & { readonly asked: Asked[]; methods(): string[] }> {
  const asked: Asked[] = [];
  const server = await listening(async (request, response) => {
    const text = await bodyOf(request);
    const one: Asked = {
      verb: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: text === '' ? {} : JSON.parse(text),
      request,
    };
    asked.push(one);
    answer(one, response);
  }, port);
  return { ...server, asked, methods: () => asked.map(({ verb, body }) => body.method ?? verb) };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

export const json = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', ...body }));
};

export const stream = (response: ServerResponse, headers: Record<string, string> = {}) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  response.flushHeaders();
};

export const tell = (response: ServerResponse, message: object, id?: string) =>
  response.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);

/** What a legacy server answers to `initialize`; undefined for any other message. */
export function legacyStart(asked: Asked, response: ServerResponse, session?: string): boolean {
  const { id, method } = asked.body;
  if (method === 'server/discover') {
    json(response, 400, { id: null, error: { code: -32000, message: 'Bad Request: Server not initialized' } });
  } else if (method === 'initialize') {
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'f', version: '1' },
    };
    json(response, 200, { id, result }, session === undefined ? {} : { 'mcp-session-id': session });
  } else if (method?.startsWith('notifications/')) response.writeHead(202).end();
  else if (asked.verb === 'GET') response.writeHead(405).end();
  else if (asked.verb === 'DELETE') response.writeHead(204).end();
  else return false;
  return true;
}

/** What a modern server answers to `server/discover`; false for any other message. */
export function modernStart(asked: Asked, response: ServerResponse, capabilities: JsonObject = { tools: {} }): boolean {
  const { id, method } = asked.body;
  if (asked.verb !== 'POST') response.writeHead(405).end();
  else if (method === 'server/discover') {
    json(response, 200, { id, result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities } });
  } else if (method === 'initialize') {
    json(response, 400, { id, error: { code: -32022, message: 'Unsupported', data: { supported: ['2026-07-28'] } } });
  } else return false;
  return true;
}

export const entry = (url: string, more: Partial<HttpServer> = {}): HttpServer => ({
  key: 'net',
  scope: 'code',
  url,
  startMs: 10_000,
  ...more,
});

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

/** The official SDK, version 1: with a session for each `initialize`, or without any. */
export async function sdkV1(options: { readonly stateless?: boolean; readonly asJson?: boolean } = {}) {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  let ran = 0;
  const make = () => {
    const server = new LegacyServer({ name: 'sdk-v1', version: '1.0.0' });
    server.registerTool(
      'add',
      { description: 'Adds.', inputSchema: { a: z.number(), b: z.number() }, annotations: { readOnlyHint: true } },
      async ({ a, b }) => {
        ran += 1;
        return { content: [{ type: 'text', text: String(a + b) }] };
      },
    );
    server.registerTool('who', { description: 'Asks the person.', inputSchema: {} }, async (_, { sendRequest }) => {
      const ask = { method: 'elicitation/create' as const, params: { message: 'Your name?', requestedSchema: NAME } };
      const reply = await sendRequest(
        { ...ask, params: { ...ask.params, requestedSchema: { ...NAME, required: ['name'] } } },
        z.any(),
      );
      return { content: [{ type: 'text', text: JSON.stringify(reply) }] };
    });
    server.registerTool('learn', { description: 'Adds a tool.', inputSchema: {} }, async () => {
      server.registerTool('learned', { description: 'New.', inputSchema: {} }, async () => ({ content: [] }));
      return { content: [] };
    });
    return server;
  };
  const running = await listening(async (request, response) => {
    const id = request.headers['mcp-session-id'];
    let transport = typeof id === 'string' ? sessions.get(id) : undefined;
    if (!transport && typeof id === 'string') {
      json(response, 404, { id: null, error: { code: -32001, message: 'Session not found' } });
      return;
    }
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        ...(options.stateless !== true && { sessionIdGenerator: randomUUID }),
        ...(options.asJson === true && { enableJsonResponse: true }),
        onsessioninitialized: (given) => void (transport && sessions.set(given, transport)),
      } as ConstructorParameters<typeof StreamableHTTPServerTransport>[0]);
      await make().connect(transport as Parameters<LegacyServer['connect']>[0]);
    }
    await transport.handleRequest(request, response);
  });
  /** How often `add` ran. */
  const added = () => ran;
  return { ...running, sessions, added };
}

/** The official SDK, version 2: both eras, or the modern one alone. */
export async function sdkV2(options: { readonly modernOnly?: boolean } = {}) {
  let more = false;
  let ran = 0;
  const handler = createMcpHandler(
    () => {
      const server = new McpServer(
        { name: 'sdk-v2', version: '1.0.0' },
        { capabilities: { tools: { listChanged: true } } },
      );
      server.registerTool(
        'add',
        { description: 'Adds.', inputSchema: z.object({ a: z.number(), b: z.number() }) },
        async ({ a, b }) => {
          ran += 1;
          return { content: [{ type: 'text', text: String(a + b) }] };
        },
      );
      server.registerTool(
        'region',
        {
          description: 'Says where it runs.',
          inputSchema: z.object({
            where: z.string().meta({ 'x-mcp-header': 'Region' }),
            deep: z.object({ n: z.int().meta({ 'x-mcp-header': 'N' }) }).optional(),
          }),
        },
        async (args) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
      );
      server.registerTool('who', { description: 'Asks the person.', inputSchema: z.object({}) }, async (_, ctx) => {
        const given = ctx.mcpReq.inputResponses?.who;
        if (given) return { content: [{ type: 'text', text: JSON.stringify(given) }] };
        const who = inputRequired.elicit({ message: 'Your name?', requestedSchema: { ...NAME, required: ['name'] } });
        return inputRequired({ inputRequests: { who } });
      });
      server.registerTool('learn', { description: 'Adds a tool.', inputSchema: z.object({}) }, async () => {
        more = true;
        handler.notify.toolsChanged();
        return { content: [] };
      });
      if (more)
        server.registerTool('learned', { description: 'New.', inputSchema: z.object({}) }, async () => ({
          content: [],
        }));
      return server;
    },
    { legacy: options.modernOnly === true ? 'reject' : 'stateless' },
  );
  const running = await listening(async (request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const text = await bodyOf(request);
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const web = new Request(`http://127.0.0.1${request.url}`, {
      method: request.method ?? 'GET',
      headers,
      signal: gone.signal,
      ...(text !== '' && { body: text }),
    });
    const answer = await handler.fetch(web);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    if (answer.body)
      Readable.fromWeb(answer.body as ReadableStream)
        .on('error', () => {})
        .pipe(response);
    else response.end();
  });
  return {
    ...running,
    /** How often `add` ran. */
    added: () => ran,
    async close() {
      await handler.close();
      await running.close();
    },
  };
}

/** The published everything server as a process of its own. */
export async function everything(mode: 'streamableHttp' | 'sse'): Promise<Running> {
  const probe = await listening(() => {});
  await probe.close();
  const child: ChildProcess = spawn(process.execPath, [published('server-everything'), mode], {
    env: { PATH: process.env.PATH ?? '', PORT: String(probe.port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const url = `http://127.0.0.1:${probe.port}${mode === 'sse' ? '/sse' : '/mcp'}`;
  for (const output of [child.stdout, child.stderr]) output?.resume();
  for (let tries = 0; tries < 1_800; tries += 1) {
    const up = await fetch(`http://127.0.0.1:${probe.port}/`).then(
      () => true,
      () => false,
    );
    if (up) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    async close() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
