import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { contentToMcp } from '../../content/index.ts';
import type {
  CallContext,
  CompletionRef,
  ContentHost,
  JsonObject,
  Outcome,
  SourceResult,
  ToolHost,
} from '../../contracts/index.ts';
import { answerInPlace, assertCanAnswer, type Exchange } from './answer-in-place.ts';
import { type Answers, answersIn, callContext, eventRelay } from './call-context.ts';
import { isObject } from './is-object.ts';
import type { Peer } from './peer.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, NO_RESOURCE, RpcError } from './rpc-error.ts';

/** Most resources that one session of the older revisions subscribes to. */
const MAX_SUBSCRIBED = 1000;

export const LIST_CHANGES = ['notifications/resources/list_changed', 'notifications/prompts/list_changed'] as const;

/** What is offered of content: all of it where there is some, since lists grow and differ by caller. */
export function contentCapabilities({ content }: ToolHost): {
  readonly resources?: { readonly subscribe: true; readonly listChanged: true };
  readonly prompts?: { readonly listChanged: true };
  readonly completions?: Record<string, never>;
} {
  if (!content) return {};
  return { resources: { subscribe: true, listChanged: true }, prompts: { listChanged: true }, completions: {} };
}

/** Tells one client that its lists of content may have changed. */
export function tellContentChanged(server: Server): void {
  void server.sendResourceListChanged().catch(() => undefined);
  void server.sendPromptListChanged().catch(() => undefined);
}

type Params = JsonObject;
type Answer = (params: Params, ctx: ServerContext) => JsonObject | Promise<JsonObject>;

/** Answers one client's requests about content. */
export function contentAnswers(
  server: Server,
  host: ToolHost,
  peer: Peer,
): (method: string, params: Params, ctx: ServerContext) => Promise<JsonObject | undefined> {
  const { content } = host;
  const table = content ? answersOf(server, host, content, peer) : new Map<string, Answer>();
  return async (method, params, ctx) => table.get(method)?.(params, ctx);
}

function answersOf(server: Server, host: ToolHost, content: ContentHost, peer: Peer): ReadonlyMap<string, Answer> {
  const listed = (member: string, items: () => Parameters<typeof contentToMcp>[0][]): Answer => {
    return ({ cursor }) => {
      // The whole list is one page, so no cursor was ever given out.
      if (cursor !== undefined) throw new RpcError(INVALID_PARAMS, 'Invalid cursor');
      return { [member]: items().map(contentToMcp) };
    };
  };
  const table = new Map<string, Answer>([
    ['resources/list', listed('resources', () => [...content.list(peer.who).resources])],
    ['resources/templates/list', listed('resourceTemplates', () => [...content.list(peer.who).templates])],
    ['prompts/list', listed('prompts', () => [...content.list(peer.who).prompts])],
    [
      'resources/read',
      (params, ctx) => {
        const uri = text(params, 'uri');
        const missing = peer.era === 'legacy' ? NO_RESOURCE : INVALID_PARAMS;
        return relayed({ server, host, peer, ctx }, { code: missing, data: { uri } }, (call) =>
          content.read(uri, call),
        );
      },
    ],
    [
      'prompts/get',
      (params, ctx) => {
        const name = text(params, 'name');
        const args = strings(params.arguments, 'arguments');
        return relayed({ server, host, peer, ctx }, { code: INVALID_PARAMS }, (call) =>
          content.prompt(name, args, call),
        );
      },
    ],
    ['completion/complete', (params, ctx) => completed(content, peer, params, ctx)],
  ]);
  // Revision 2026-07-28 has a stream for this.
  if (peer.era === 'legacy') subscriptions(server, content, peer, table);
  return table;
}

function text(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== 'string') throw new RpcError(INVALID_PARAMS, `Invalid params: ${name} must be a string`);
  return value;
}

function strings(value: unknown, name: string): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  if (!isObject(value) || Object.values(value).some((each) => typeof each !== 'string'))
    throw new RpcError(INVALID_PARAMS, `Invalid params: ${name} must be an object of strings`);
  return value as Record<string, string>;
}

/** Relays one request to the host. What goes wrong is an error of the protocol: these results have no other way. */
async function relayed(
  exchange: Exchange,
  refusal: { readonly code: number; readonly data?: JsonObject },
  request: (ctx: CallContext) => Promise<SourceResult>,
): Promise<JsonObject> {
  const { server, peer, ctx } = exchange;
  const events = eventRelay(ctx);
  const capabilities = () => server.getClientCapabilities();
  const call = async (answers: Answers | undefined): Promise<Outcome> => {
    const result = await request(callContext(peer, ctx, { onEvent: events.onEvent, capabilities }, { answers }));
    if (result.kind === 'failure') return { kind: 'failed', failure: result.failure };
    return result.kind === 'result' ? { kind: 'ok', raw: result.raw, isError: false } : result;
  };
  let outcome = await call(answersIn(ctx));
  if (peer.era === 'legacy') outcome = await answerInPlace(exchange, outcome, call);
  await events.finish();
  if (outcome.kind === 'failed') {
    const { category, message } = outcome.failure;
    if (category === 'validation') throw new RpcError(refusal.code, message, refusal.data);
    throw new RpcError(INTERNAL_ERROR, message);
  }
  if (outcome.kind === 'input_required') {
    const result: JsonObject = { resultType: 'input_required', inputRequests: outcome.requests.parse() };
    if (outcome.state !== undefined) result.requestState = outcome.state;
    assertCanAnswer(ctx, result);
    return result;
  }
  const value = outcome.kind === 'ok' ? outcome.raw.parse() : undefined;
  if (!isObject(value)) throw new RpcError(INTERNAL_ERROR, 'The answer is not an MCP result');
  return value;
}

async function completed(
  content: ContentHost,
  peer: Peer,
  params: JsonObject,
  ctx: ServerContext,
): Promise<JsonObject> {
  const { ref: given, argument, context } = params;
  if (!isObject(given) || !isObject(argument)) throw new RpcError(INVALID_PARAMS, 'Invalid params: ref and argument');
  const asked = { name: text(argument, 'name'), value: text(argument, 'value') };
  const known = strings(isObject(context) ? context.arguments : undefined, 'context.arguments');
  let ref: CompletionRef;
  if (given.type === 'ref/prompt') ref = { type: 'prompt', name: text(given, 'name') };
  else if (given.type === 'ref/resource') ref = { type: 'resource', uriTemplate: text(given, 'uri') };
  else throw new RpcError(INVALID_PARAMS, 'Invalid params: ref.type must be ref/prompt or ref/resource');
  const { values, total, hasMore } = await content.complete(ref, asked, known, peer.who, ctx.mcpReq.signal);
  return {
    completion: {
      values: [...values],
      ...(total !== undefined && { total }),
      ...(hasMore !== undefined && { hasMore }),
    },
  };
}

/** `resources/subscribe` and its end, for one session. */
function subscriptions(server: Server, content: ContentHost, peer: Peer, table: Map<string, Answer>): void {
  const stops = new Map<string, () => void>();
  table.set('resources/subscribe', (params) => {
    const uri = text(params, 'uri');
    if (stops.has(uri)) return {};
    if (stops.size >= MAX_SUBSCRIBED) throw new RpcError(INVALID_PARAMS, 'Too many subscriptions');
    const tell = () => void server.sendResourceUpdated({ uri }).catch(() => undefined);
    stops.set(uri, content.subscribe(uri, peer.who, tell));
    return {};
  });
  table.set('resources/unsubscribe', (params) => {
    const uri = text(params, 'uri');
    stops.get(uri)?.();
    stops.delete(uri);
    return {};
  });
  const onclose = server.onclose;
  server.onclose = () => {
    onclose?.();
    for (const stop of stops.values()) stop();
    stops.clear();
  };
}
