import { readFileSync } from 'node:fs';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import type { Failure, JsonObject, Outcome, ToolHost } from '../../contracts/index.ts';
import { definitionToMcp, rawFrom } from '../../tools/index.ts';
import { type Answers, callContext, eventRelay } from './call-context.ts';
import { askAll, missingCapabilities } from './client-input.ts';
import { isObject } from './is-object.ts';
import { note } from './notes.ts';
import { outcomeToMcp } from './outcome-to-mcp.ts';
import type { Peer, Sdk } from './peer.ts';

const INVALID_PARAMS = -32602;
export const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
/** 2026-07-28: the client didn't declare a capability that the answer needs. */
export const MISSING_CAPABILITY = -32021;

/** How often one call of an older client may ask for more before it is given up. */
const MAX_ROUNDS = 8;

/** The SDK answers an error with an integer `code` as that JSON-RPC error. */
class RpcError extends Error {
  readonly code: number;
  readonly data?: JsonObject;
  constructor(code: number, message: string, data?: JsonObject) {
    super(message);
    this.code = code;
    if (data !== undefined) this.data = data;
  }
}

let version: string | undefined;
function packageVersion(): string {
  version ??= String(JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version);
  return version;
}

/**
 * One SDK server for one peer. Requests are answered in the fallback handler, because the SDK's typed handlers check
 * and re-shape every result, and one block they don't know would cost the others.
 */
export function createServer(sdk: Sdk, host: ToolHost, peer: Peer): Server {
  const { instructions, ...info } = host.info ?? { name: 'bridle', version: packageVersion() };
  const server = new sdk.Server(info, {
    ...(instructions !== undefined && { instructions }),
    capabilities: { tools: { listChanged: true }, logging: {} },
    debouncedNotificationMethods: ['notifications/tools/list_changed'],
  });
  server.fallbackRequestHandler = async (request, ctx) => {
    const params = isObject(request.params) ? request.params : {};
    try {
      if (request.method === 'tools/list') return listTools(host, peer, params);
      if (request.method === 'tools/call') return await callTool({ server, host, peer, ctx }, params);
      throw new RpcError(METHOD_NOT_FOUND, 'Method not found');
    } catch (error) {
      const known = error instanceof RpcError;
      if (!known) note(`${request.method} failed: ${error instanceof Error ? error.message : String(error)}`);
      const answer = known ? error : new RpcError(INTERNAL_ERROR, 'Internal error');
      peer.onRpcError?.(answer.code);
      throw answer;
    }
  };
  return server;
}

function listTools(host: ToolHost, peer: Peer, params: JsonObject): JsonObject {
  // The whole list is one page, so no cursor was ever given out.
  if (params.cursor !== undefined) throw new RpcError(INVALID_PARAMS, 'Invalid cursor');
  return { tools: host.list(peer.who).map((tool) => definitionToMcp(tool)) };
}

/** What answering one `tools/call` needs. */
interface Exchange {
  readonly server: Server;
  readonly host: ToolHost;
  readonly peer: Peer;
  readonly ctx: ServerContext;
}

async function callTool(exchange: Exchange, params: JsonObject): Promise<JsonObject> {
  const { host, peer, ctx } = exchange;
  const { name, arguments: args = {} } = params;
  if (typeof name !== 'string') throw new RpcError(INVALID_PARAMS, 'Invalid params: name must be a string');
  if (!isObject(args)) throw new RpcError(INVALID_PARAMS, 'Invalid params: arguments must be an object');
  const events = eventRelay(ctx);
  const capabilities = () => exchange.server.getClientCapabilities();
  const call = (answers?: Answers) =>
    host.call({
      name,
      args: rawFrom(args),
      profile: 'relay',
      conversation: peer.conversation,
      ctx: callContext(peer, ctx, { onEvent: events.onEvent, capabilities }, answers),
    });
  let outcome = await call();
  if (peer.era === 'legacy') outcome = await answerInPlace(exchange, outcome, call);
  await events.finish();
  const answer = outcomeToMcp(outcome);
  switch (answer.kind) {
    case 'unknown_tool':
      throw new RpcError(INVALID_PARAMS, `Unknown tool: ${name}`);
    case 'input_required':
      assertCanAnswer(ctx, answer.result);
      return answer.result;
    case 'result':
      return peer.era === 'legacy' && 'structuredContent' in answer.result
        ? forLegacy(exchange, name, answer.result)
        : answer.result;
    default:
      return answer satisfies never;
  }
}

/** A client of 2026-07-28 is asked only for what it declared with this request. */
function assertCanAnswer(ctx: ServerContext, result: JsonObject): void {
  const envelope: unknown = ctx.mcpReq.envelope;
  const declared = isObject(envelope) ? envelope['io.modelcontextprotocol/clientCapabilities'] : undefined;
  const missing = missingCapabilities(result.inputRequests ?? {}, declared);
  if (Object.keys(missing).length === 0) return;
  throw new RpcError(
    MISSING_CAPABILITY,
    `The tool asks for input by ${Object.keys(missing).join(', ')}, which the client did not declare`,
    { requiredCapabilities: missing },
  );
}

/**
 * The older revisions know no result that asks: what the tool wants to know is asked on the call's own stream, and the
 * call made again with the answers, until it has a result.
 */
async function answerInPlace(
  { server, ctx }: Exchange,
  first: Outcome,
  call: (answers: Answers) => Promise<Outcome>,
): Promise<Outcome> {
  let outcome = first;
  for (let round = 0; outcome.kind === 'input_required'; round += 1) {
    const requests = outcome.requests.parse();
    const missing = Object.keys(missingCapabilities(requests, server.getClientCapabilities()));
    if (missing.length > 0) return { kind: 'failed', failure: notAnswered(`this client has no ${missing.join(', ')}`) };
    if (round === MAX_ROUNDS) return { kind: 'failed', failure: notAnswered(`it asked ${MAX_ROUNDS} times`) };
    try {
      const { state } = outcome;
      const responses = await askAll(ctx, requests, server.getClientCapabilities());
      outcome = await call({ responses, ...(state !== undefined && { state }) });
    } catch (error) {
      return { kind: 'failed', failure: notAnswered(error instanceof Error ? error.message : String(error)) };
    }
  }
  return outcome;
}

function notAnswered(why: string): Failure {
  return {
    category: 'business',
    retryable: false,
    message: `The tool asked for more input and did not get it: ${why}. Call it again with everything it needs.`,
    executed: 'unknown',
    attempts: [],
  };
}

/** Clients of the older revisions know only objects as structured content; the SDK wraps the rest, as in its list. */
function forLegacy({ server, host, peer }: Exchange, name: string, result: JsonObject): JsonObject {
  const schema = host.list(peer.who).find((tool) => tool.ref.name === name)?.outputSchema;
  const projected: unknown = server.projectCallToolResult(
    // The SDK's type of a result is narrower than what a result may hold; it is passed through, not read.
    result as Parameters<Server['projectCallToolResult']>[0],
    isObject(schema) ? schema : undefined,
  );
  return isObject(projected) ? projected : result;
}
