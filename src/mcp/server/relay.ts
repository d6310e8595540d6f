import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Server, ServerContext, StandardSchemaV1 } from '@modelcontextprotocol/server';
import type { CallContext, Identity, Json, JsonObject, RawJson, ToolHost } from '../../contracts/index.ts';
import { definitionToMcp, rawFrom } from '../../tools/index.ts';
import { outcomeToMcp } from './outcome-to-mcp.ts';

/** The official SDK, loaded when something is served. */
export type Sdk = typeof import('@modelcontextprotocol/server');

/** Who is at the other end of one connection, and how it speaks. */
export interface Peer {
  readonly who: Identity;
  readonly conversation: string;
  readonly era: 'legacy' | 'modern';
}

/** The caller of a server that asks nobody who they are. */
export const ANYONE: Identity = { agent: 'mcp-client', via: 'library' };

/** Longest silence and longest call in milliseconds. The client has its own, shorter ones; these only free resources. */
const IDLE_MS = 5 * 60_000;
const HARD_MS = 60 * 60_000;

const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

/** The SDK answers an error with an integer `code` as that JSON-RPC error. */
class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Accepts every value: a client's answer is the host's to judge. */
const ANY_VALUE: StandardSchemaV1<unknown, Json> = {
  '~standard': { version: 1, vendor: 'bridle', validate: (value: unknown) => ({ value: value as Json }) },
};

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

let version: string | undefined;
function packageVersion(): string {
  version ??= String(JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version);
  return version;
}

/** Says something to the person who runs the server. stdout is the protocol's, so it goes to stderr. */
export function note(text: string): void {
  process.stderr.write(`bridle: ${text}\n`);
}

/** An author's own preview function can't cross MCP; said once, because its absence is seen only at an approval. */
export function notePreviews(host: ToolHost): void {
  const lost = host.list(ANYONE).filter((tool) => tool.preview?.kind === 'author');
  if (lost.length === 0) return;
  note(
    `the preview function of ${lost.map((tool) => tool.ref.tool).join(', ')} is not served: over MCP a preview is ` +
      'another read-only tool, given as preview: {tool, arguments}',
  );
}

/**
 * One SDK server for one peer. Requests are answered in the fallback handler, because the SDK's typed handlers check
 * and re-shape every result, and one block they don't know would cost the others.
 */
export function createServer(sdk: Sdk, host: ToolHost, peer: Peer): Server {
  const server = new sdk.Server(
    { name: 'bridle', version: packageVersion() },
    {
      capabilities: { tools: { listChanged: true }, logging: {} },
      debouncedNotificationMethods: ['notifications/tools/list_changed'],
    },
  );
  server.fallbackRequestHandler = async (request, ctx) => {
    const params = isObject(request.params) ? request.params : {};
    try {
      if (request.method === 'tools/list') return listTools(host, peer, params);
      if (request.method === 'tools/call') return await callTool(server, host, peer, params, ctx);
    } catch (error) {
      if (error instanceof RpcError) throw error;
      note(`${request.method} failed: ${error instanceof Error ? error.message : String(error)}`);
      throw new RpcError(INTERNAL_ERROR, 'Internal error');
    }
    throw new RpcError(METHOD_NOT_FOUND, 'Method not found');
  };
  return server;
}

function listTools(host: ToolHost, peer: Peer, params: JsonObject): JsonObject {
  // The whole list is one page, so no cursor was ever given out.
  if (params.cursor !== undefined) throw new RpcError(INVALID_PARAMS, 'Invalid cursor');
  return { tools: host.list(peer.who).map((tool) => definitionToMcp(tool)) };
}

async function callTool(
  server: Server,
  host: ToolHost,
  peer: Peer,
  params: JsonObject,
  ctx: ServerContext,
): Promise<JsonObject> {
  const { name, arguments: args = {} } = params;
  if (typeof name !== 'string') throw new RpcError(INVALID_PARAMS, 'Invalid params: name must be a string');
  if (!isObject(args)) throw new RpcError(INVALID_PARAMS, 'Invalid params: arguments must be an object');
  const events = eventRelay(ctx);
  const outcome = await host.call({
    name,
    args: rawFrom(args),
    profile: 'relay',
    conversation: peer.conversation,
    ctx: callContext(peer, ctx, events.onEvent),
  });
  await events.finish();
  const answer = outcomeToMcp(outcome);
  switch (answer.kind) {
    case 'unknown_tool':
      throw new RpcError(INVALID_PARAMS, `Unknown tool: ${name}`);
    case 'input_required':
      return peer.era === 'modern' ? answer.result : cannotBeAsked();
    case 'result':
      return peer.era === 'legacy' && 'structuredContent' in answer.result
        ? forLegacy(server, host, peer, name, answer.result)
        : answer.result;
    default:
      return answer satisfies never;
  }
}

/** Clients of the older revisions know only objects as structured content; the SDK wraps the rest, as in its list. */
function forLegacy(server: Server, host: ToolHost, peer: Peer, name: string, result: JsonObject): JsonObject {
  const schema = host.list(peer.who).find((tool) => tool.ref.name === name)?.outputSchema;
  const projected: unknown = server.projectCallToolResult(
    // The SDK's type of a result is narrower than what a result may hold; it is passed through, not read.
    result as Parameters<Server['projectCallToolResult']>[0],
    isObject(schema) ? schema : undefined,
  );
  return isObject(projected) ? projected : result;
}

function cannotBeAsked(): JsonObject {
  const answer = outcomeToMcp({
    kind: 'failed',
    failure: {
      category: 'business',
      retryable: false,
      message:
        "The tool asks for more input, and this client's protocol revision has no way to give it. " +
        'Call it again with everything it needs, or from a client of revision 2026-07-28.',
      executed: 'unknown',
      attempts: [],
    },
  });
  return answer.kind === 'result' ? answer.result : {};
}

function callContext(peer: Peer, ctx: ServerContext, onEvent: NonNullable<CallContext['onEvent']>): CallContext {
  const { inputResponses, signal } = ctx.mcpReq;
  const state = ctx.mcpReq.requestState<unknown>();
  const second = inputResponses !== undefined || typeof state === 'string';
  return {
    callId: randomUUID(),
    who: peer.who,
    signal,
    idleMs: IDLE_MS,
    hardMs: HARD_MS,
    onEvent,
    ...(second && {
      answers: {
        responses: (inputResponses ?? {}) as JsonObject,
        ...(typeof state === 'string' && { state }),
      },
    }),
    // Revision 2026-07-28 has no requests from server to client: there, input is asked for by an input_required result.
    ...(peer.era === 'legacy' && { input: (request: RawJson) => askClient(ctx, request) }),
  };
}

async function askClient(ctx: ServerContext, request: RawJson): Promise<Json> {
  const message = request.parse();
  if (!isObject(message) || typeof message.method !== 'string') throw new TypeError('A request needs a method.');
  const params = isObject(message.params) ? { params: message.params } : {};
  return ctx.mcpReq.send({ method: message.method, ...params }, ANY_VALUE, {
    signal: ctx.mcpReq.signal,
    timeout: HARD_MS,
  });
}

/** Progress and log messages of one call, in order, and none after its result. */
function eventRelay(ctx: ServerContext) {
  const token = ctx.mcpReq._meta?.progressToken;
  const sent: Promise<unknown>[] = [];
  let open = true;
  const onEvent: NonNullable<CallContext['onEvent']> = (event) => {
    if (!open) return;
    const params = event.raw.parse();
    if (!isObject(params)) return;
    if (event.kind === 'log') sent.push(sendLog(ctx, params));
    else if (token !== undefined) {
      const progress = { ...params, progressToken: token } as { progressToken: string | number; progress: number };
      sent.push(ctx.mcpReq.notify({ method: 'notifications/progress', params: progress }));
    }
  };
  return {
    onEvent,
    /** A client that can't be told of progress is no reason to lose the result. */
    async finish(): Promise<void> {
      open = false;
      await Promise.allSettled(sent);
    },
  };
}

async function sendLog(ctx: ServerContext, params: JsonObject): Promise<void> {
  const logger = typeof params.logger === 'string' ? params.logger : undefined;
  await ctx.mcpReq.log(params.level as Parameters<ServerContext['mcpReq']['log']>[0], params.data, logger);
}
