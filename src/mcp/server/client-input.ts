import { randomUUID } from 'node:crypto';
import type { InputKind, Json, JsonObject } from '../../contracts/index.ts';
import { CODES } from '../wire/index.ts';
import { isObject } from './is-object.ts';
import type { Exchange } from './peer.ts';
import { RpcError } from './rpc.ts';

/** The capability by which a client says that it answers a request. */
const CAPABILITY_OF = new Map([
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
]);

/**
 * @param requests what a call asks for: request objects by the key under which each is to be answered
 * @param declared the client's capabilities
 * @returns the capabilities that it lacks to answer, in the form in which a client declares them
 */
export function missingCapabilities(requests: Json, declared: unknown): JsonObject {
  const missing: JsonObject = {};
  for (const request of isObject(requests) ? Object.values(requests) : []) {
    const method = isObject(request) && typeof request.method === 'string' ? request.method : '';
    const capability = CAPABILITY_OF.get(method);
    if (capability === undefined) continue;
    const has = isObject(declared) ? declared[capability] : undefined;
    // Who names only one of the ways of asking has only that one; who names none has the form.
    const mode = isObject(request) && isObject(request.params) && request.params.mode === 'url' ? 'url' : 'form';
    const partly = capability === 'elicitation' && isObject(has) && ('url' in has || mode === 'url') && !(mode in has);
    // Tools are for those models alone whose host runs them (MCP, Sampling).
    const tools = capability === 'sampling' && isObject(has) && wantsTools(request) && !isObject(has.tools);
    if (!isObject(has) || partly) missing[capability] = partly ? { [mode]: {} } : {};
    else if (tools) missing[capability] = { tools: {} };
  }
  return missing;
}

function wantsTools(request: Json): boolean {
  return isObject(request) && isObject(request.params) && ('tools' in request.params || 'toolChoice' in request.params);
}

const CAPABILITIES = [...CAPABILITY_OF.values()];
const NONE: readonly InputKind[] = [];
const KINDS: readonly (readonly [InputKind, JsonObject])[] = [
  ['form', { method: 'elicitation/create' }],
  ['url', { method: 'elicitation/create', params: { mode: 'url' } }],
  ['sampling', { method: 'sampling/createMessage' }],
  ['roots', { method: 'roots/list' }],
];

/** What a client can be asked for, by the capabilities that it declared. */
export function answerable(declared: unknown): readonly InputKind[] {
  if (!isObject(declared) || !CAPABILITIES.some((name) => Object.hasOwn(declared, name))) return NONE;
  const can = ([, request]: (typeof KINDS)[number]) =>
    Object.keys(missingCapabilities({ request }, declared)).length === 0;
  return KINDS.filter(can).map(([kind]) => kind);
}

/** Sends one request to a client of the older revisions, on the stream of the call it belongs to. */
export async function askClient(exchange: Exchange, request: Json | undefined): Promise<Json> {
  if (!isObject(request) || typeof request.method !== 'string') throw new TypeError('A request needs a method.');
  const lacking = missingCapabilities({ request }, exchange.capabilities);
  const missing = Object.keys(lacking);
  if (missing.length > 0) exchange.lacks?.(lacks(lacking));
  if (missing.length > 0) throw new Error(`this client has no ${missing.join(', ')}`);
  if (!exchange.ask) throw new Error('this client takes no requests');
  return exchange.ask(request.method, isObject(request.params) ? withVisitId(request.params) : undefined);
}

/** 2025-11-25 names each visit (`ElicitRequestURLParams`), which the newer revision doesn't: a server of it gives no name. */
function withVisitId(params: JsonObject): JsonObject {
  return params.mode === 'url' && params.elicitationId === undefined
    ? { ...params, elicitationId: randomUUID() }
    : params;
}

/** How a client of 2026-07-28 learns that it is asked for what it didn't declare. */
export function lacks(missing: JsonObject): RpcError {
  return new RpcError(
    CODES.missingCapability,
    `It asks for input by ${Object.keys(missing).join(', ')}, which the client did not declare`,
    { requiredCapabilities: missing },
  );
}

/** What a client of 2025-11-25 is answered that has to send its person somewhere before the request can be made. */
export function visitsFirst(elicitations: Json[]): RpcError {
  return new RpcError(CODES.urlElicitationRequired, 'An address has to be visited before this', { elicitations });
}

/** Asks a client of the older revisions everything that a newer one would be asked in one result. */
export async function askAll(exchange: Exchange, requests: Json): Promise<JsonObject> {
  const answers = new Map<string, Json>();
  for (const [key, request] of Object.entries(isObject(requests) ? requests : {})) {
    answers.set(key, await askClient(exchange, request));
  }
  return Object.fromEntries(answers);
}
