import { readFileSync } from 'node:fs';
import type { Server } from '@modelcontextprotocol/server';
import type { JsonObject, ToolHost } from '../../contracts/index.ts';
import { canonicalJson, definitionToMcp, rawFrom, sha256 } from '../../tools/index.ts';
import { answerInPlace, assertCanAnswer, type Exchange } from './answer-in-place.ts';
import { type Answers, answersIn, callContext, eventRelay } from './call-context.ts';
import { givenStates } from './given-states.ts';
import { isObject } from './is-object.ts';
import { keepNoResource } from './no-resource.ts';
import { note } from './notes.ts';
import { outcomeToMcp } from './outcome-to-mcp.ts';
import type { Peer, Sdk } from './peer.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, NO_RESOURCE, RpcError } from './rpc-error.ts';
import { contentAnswers, contentCapabilities, LIST_CHANGES } from './serve-content.ts';

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
    capabilities: { tools: { listChanged: true }, logging: {}, ...contentCapabilities(host) },
    debouncedNotificationMethods: ['notifications/tools/list_changed', ...LIST_CHANGES],
  });
  const answerContent = contentAnswers(server, host, peer);
  const noResource = peer.era === 'legacy' ? keepNoResource(server) : undefined;
  server.fallbackRequestHandler = async (request, ctx) => {
    const params = isObject(request.params) ? request.params : {};
    try {
      if (request.method === 'tools/list') return listTools(host, peer, params);
      if (request.method === 'tools/call') return await callTool({ server, host, peer, ctx }, params);
      const content = await answerContent(request.method, params, ctx);
      if (content) return content;
      throw new RpcError(METHOD_NOT_FOUND, 'Method not found');
    } catch (error) {
      const known = error instanceof RpcError;
      if (!known) note(`${request.method} failed: ${error instanceof Error ? error.message : String(error)}`);
      const answer = known ? error : new RpcError(INTERNAL_ERROR, 'Internal error');
      if (answer.code === NO_RESOURCE) noResource?.(ctx.mcpReq.id);
      peer.onRpcError?.(answer.code);
      throw answer;
    }
  };
  return server;
}

function listTools(host: ToolHost, peer: Peer, params: JsonObject): JsonObject {
  // The whole list is one page, so no cursor was ever given out.
  if (params.cursor !== undefined) throw new RpcError(INVALID_PARAMS, 'Invalid cursor');
  const tools = host.list(peer.who);
  host.listed?.(peer.who, tools);
  return { tools: tools.map((tool) => definitionToMcp(tool)) };
}

async function callTool(exchange: Exchange, params: JsonObject): Promise<JsonObject> {
  const { host, peer, ctx } = exchange;
  const { name, arguments: args = {} } = params;
  if (typeof name !== 'string') throw new RpcError(INVALID_PARAMS, 'Invalid params: name must be a string');
  if (!isObject(args)) throw new RpcError(INVALID_PARAMS, 'Invalid params: arguments must be an object');
  const events = eventRelay(ctx);
  const capabilities = () => exchange.server.getClientCapabilities();
  const states = peer.era === 'modern' ? givenStates(host) : undefined;
  const brought = answersIn(ctx);
  const whose = { peer, tool: name };
  const leg = brought?.state === undefined ? undefined : states?.legOf(whose, brought.state);
  // All legs of a call belong to the conversation that it began in.
  const conversation = leg?.conversation ?? peer.conversation;
  const call = (answers: Answers | undefined) =>
    host.call({
      name,
      args: rawFrom(args),
      profile: 'relay',
      conversation,
      ctx: callContext(peer, ctx, { onEvent: events.onEvent, capabilities }, { answers, redelivery: leg?.redelivery }),
    });
  let outcome = await call(brought);
  if (peer.era === 'legacy') outcome = await answerInPlace(exchange, outcome, call);
  if (outcome.kind === 'input_required' && outcome.state !== undefined) {
    // With other arguments or answers it is another leg, though its state is the same.
    const sent = leg && sha256(canonicalJson([leg.redelivery, args, brought?.responses ?? null]));
    states?.give(whose, conversation, outcome.state, sent);
  }
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
