import type { ServerContext, StandardSchemaV1 } from '@modelcontextprotocol/server';
import type { Json, JsonObject } from '../../contracts/index.ts';
import { isObject } from './is-object.ts';

/** How long a person may take to answer, in milliseconds. */
const ANSWER_MS = 30 * 60_000;

/** Accepts every value: a client's answer is the host's to judge. */
const ANY_VALUE: StandardSchemaV1<unknown, Json> = {
  '~standard': { version: 1, vendor: 'bridle', validate: (value: unknown) => ({ value: value as Json }) },
};

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
    if (!isObject(has) || partly) missing[capability] = partly ? { [mode]: {} } : {};
  }
  return missing;
}

/**
 * Sends one request to a client of the older revisions, on the stream of the call it belongs to.
 *
 * @param declared the client's capabilities
 */
export async function askClient(ctx: ServerContext, request: Json | undefined, declared: unknown): Promise<Json> {
  if (!isObject(request) || typeof request.method !== 'string') throw new TypeError('A request needs a method.');
  const missing = Object.keys(missingCapabilities({ request }, declared));
  if (missing.length > 0) throw new Error(`this client has no ${missing.join(', ')}`);
  const message = { method: request.method, ...(isObject(request.params) && { params: request.params }) };
  return ctx.mcpReq.send(message, ANY_VALUE, { signal: ctx.mcpReq.signal, timeout: ANSWER_MS });
}

/** Asks a client of the older revisions everything that a newer one would be asked in one result. */
export async function askAll(ctx: ServerContext, requests: Json, declared: unknown): Promise<JsonObject> {
  const answers = new Map<string, Json>();
  for (const [key, request] of Object.entries(isObject(requests) ? requests : {})) {
    answers.set(key, await askClient(ctx, request, declared));
  }
  return Object.fromEntries(answers);
}
