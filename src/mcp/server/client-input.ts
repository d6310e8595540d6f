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
    if (capability !== undefined && !(isObject(declared) && isObject(declared[capability]))) missing[capability] = {};
  }
  return missing;
}

/** Sends one request to a client of the older revisions, on the stream of the call it belongs to. */
export async function askClient(ctx: ServerContext, request: Json | undefined): Promise<Json> {
  if (!isObject(request) || typeof request.method !== 'string') throw new TypeError('A request needs a method.');
  const message = { method: request.method, ...(isObject(request.params) && { params: request.params }) };
  return ctx.mcpReq.send(message, ANY_VALUE, { signal: ctx.mcpReq.signal, timeout: ANSWER_MS });
}

/** Asks a client of the older revisions everything that a newer one would be asked in one result. */
export async function askAll(ctx: ServerContext, requests: Json): Promise<JsonObject> {
  const answers = new Map<string, Json>();
  for (const [key, request] of Object.entries(isObject(requests) ? requests : {})) {
    answers.set(key, await askClient(ctx, request));
  }
  return Object.fromEntries(answers);
}
