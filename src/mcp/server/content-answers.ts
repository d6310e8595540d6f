import { contentToMcp } from '../../content/index.ts';
import type {
  CallContext,
  CompletionRef,
  ContentHost,
  Json,
  JsonObject,
  Outcome,
  SourceResult,
} from '../../contracts/index.ts';
import { signalOf } from '../../tools/index.ts';
import { CODES, META } from '../wire/index.ts';
import { answerInPlace, assertCanAnswer } from './answer-in-place.ts';
import { type Answers, answersIn, callContext, eventRelay } from './call-context.ts';
import { visitsFirst } from './client-input.ts';
import { isObject } from './is-object.ts';
import type { KeptText } from './kept-text.ts';
import { pagesOf } from './list-pages.ts';
import type { ListTexts } from './list-text.ts';
import type { Exchange } from './peer.ts';
import { legacyResult, modernResult } from './result-text.ts';
import { RpcError } from './rpc.ts';
import type { Service } from './service.ts';

export type Answer = (params: JsonObject, exchange: Exchange) => string | KeptText | Promise<string>;

/** What is answered about resources and prompts, by method: JSON texts of results. */
export function contentAnswers(service: Service, content: ContentHost, lists: ListTexts): ReadonlyMap<string, Answer> {
  const listed = (
    member: string,
    items: (exchange: Exchange) => readonly Parameters<typeof contentToMcp>[0][],
  ): Answer => {
    const pageOf = pagesOf<Parameters<typeof contentToMcp>[0]>(service.host, member, addressOf);
    return ({ cursor }, exchange) => {
      const page = pageOf(exchange.peer.who, items(exchange), cursor);
      const texts = page.items.map((item) => JSON.stringify(contentToMcp(item)));
      return lists.of(member, texts, exchange.peer.era, page.nextCursor);
    };
  };
  return new Map<string, Answer>([
    ['resources/list', listed('resources', ({ peer }) => content.list(peer.who).resources)],
    ['resources/templates/list', listed('resourceTemplates', ({ peer }) => content.list(peer.who).templates)],
    ['prompts/list', listed('prompts', ({ peer }) => content.list(peer.who).prompts)],
    [
      'resources/read',
      (params, exchange) => {
        const uri = text(params, 'uri');
        const code = exchange.peer.era === 'legacy' ? CODES.noResource : CODES.invalidParams;
        const read = (call: CallContext) => content.read(uri, call);
        return relayed(service, params, exchange, { read, refusal: { code, data: { uri } }, isCacheable: true });
      },
    ],
    [
      'prompts/get',
      (params, exchange) => {
        const name = text(params, 'name');
        const args = strings(params.arguments, 'arguments');
        const read = (call: CallContext) => content.prompt(name, args, call);
        return relayed(service, params, exchange, { read, refusal: { code: CODES.invalidParams } });
      },
    ],
    ['completion/complete', (params, exchange) => completed(service, content, params, exchange)],
  ]);
}

function addressOf(item: Parameters<typeof contentToMcp>[0]): string {
  if ('uri' in item) return item.uri;
  return 'uriTemplate' in item ? item.uriTemplate : item.name;
}

/** @throws RpcError when the member isn't a string */
export function text(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== 'string') throw new RpcError(CODES.invalidParams, `Invalid params: ${name} must be a string`);
  return value;
}

function strings(value: unknown, name: string): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  if (!isObject(value) || Object.values(value).some((each) => typeof each !== 'string'))
    throw new RpcError(CODES.invalidParams, `Invalid params: ${name} must be an object of strings`);
  return value as Record<string, string>;
}

interface Relay {
  readonly read: (ctx: CallContext) => Promise<SourceResult>;
  readonly refusal: { readonly code: number; readonly data?: JsonObject };
  readonly isCacheable?: boolean;
}

/** Relays one request to the host. What goes wrong is an error of the protocol: these results have no other way. */
async function relayed(service: Service, params: JsonObject, exchange: Exchange, relay: Relay): Promise<string> {
  const { peer } = exchange;
  const events = eventRelay(exchange);
  const visits: Json[] = [];
  const call = async (answers: Answers | undefined): Promise<Outcome> => {
    const result = await relay.read(callContext(exchange, events.onEvent, { answers, visits }));
    if (result.kind === 'failure') return { kind: 'failed', failure: result.failure };
    return result.kind === 'result' ? { kind: 'ok', raw: result.raw, isError: false } : result;
  };
  let outcome: Outcome;
  try {
    outcome = await call(peer.era === 'modern' ? answersIn(params) : undefined);
    if (peer.era === 'legacy') outcome = await answerInPlace(exchange, outcome, call);
  } finally {
    events.finish();
  }
  if (outcome.kind === 'failed' && visits.length > 0) throw visitsFirst(visits);
  if (outcome.kind === 'failed') {
    const { category, message } = outcome.failure;
    if (category === 'validation') throw new RpcError(relay.refusal.code, message, relay.refusal.data);
    throw new RpcError(CODES.internal, message);
  }
  if (outcome.kind === 'input_required') {
    const result: JsonObject = { resultType: 'input_required', inputRequests: outcome.requests.parse() };
    if (outcome.state !== undefined) result.requestState = outcome.state;
    assertCanAnswer(exchange, result);
    return modernResult({ result, text: JSON.stringify(result) }, service.infoText);
  }
  const value = outcome.kind === 'ok' ? outcome.raw.parse() : undefined;
  if (outcome.kind !== 'ok' || !isObject(value)) throw new RpcError(CODES.internal, 'The answer is not an MCP result');
  const answer = { result: value, text: outcome.raw.text };
  if (peer.era === 'legacy') return legacyResult(answer);
  const modern = modernResult(answer, service.infoText);
  const isHinted = relay.isCacheable !== true || (Object.hasOwn(value, 'ttlMs') && Object.hasOwn(value, 'cacheScope'));
  return isHinted ? modern : withHints(modern, value);
}

/** Results that may be kept say for how long and for whom (MCP 2026-07-28, Caching); by default not, and for nobody else. */
function withHints(text: string, { ttlMs, cacheScope }: JsonObject): string {
  const hints = `${ttlMs === undefined ? ',"ttlMs":0' : ''}${cacheScope === undefined ? ',"cacheScope":"private"' : ''}`;
  return `${text.slice(0, text.lastIndexOf('}'))}${hints}}`;
}

async function completed(
  service: Service,
  content: ContentHost,
  params: JsonObject,
  exchange: Exchange,
): Promise<string> {
  const { ref: given, argument, context } = params;
  if (!isObject(given) || !isObject(argument))
    throw new RpcError(CODES.invalidParams, 'Invalid params: ref and argument must be objects');
  const asked = { name: text(argument, 'name'), value: text(argument, 'value') };
  const known = strings(isObject(context) ? context.arguments : undefined, 'context.arguments');
  let ref: CompletionRef;
  if (given.type === 'ref/prompt') ref = { type: 'prompt', name: text(given, 'name') };
  else if (given.type === 'ref/resource') ref = { type: 'resource', uriTemplate: text(given, 'uri') };
  else throw new RpcError(CODES.invalidParams, 'Invalid params: ref.type must be ref/prompt or ref/resource');
  const { peer, signal } = exchange;
  const { values, total, hasMore } = await content.complete(ref, asked, known, peer.who, signalOf(signal));
  const completion = {
    values: [...values],
    ...(total !== undefined && { total }),
    ...(hasMore !== undefined && { hasMore }),
  };
  const said =
    peer.era === 'modern' ? { resultType: 'complete', _meta: { [META.serverInfo]: service.serverInfo } } : {};
  return JSON.stringify({ completion, ...said });
}
