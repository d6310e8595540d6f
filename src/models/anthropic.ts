import type { Json, JsonObject, Model, ModelReply } from '../contracts/index.ts';
import { BridleError } from '../tools/index.ts';
import { type CacheTtl, withCacheMarks } from './cache-marks.ts';
import { type Deadline, deadline } from './deadline.ts';
import {
  badAnswer,
  connectionFailure,
  cutReply,
  type Endpoint,
  isConnectionError,
  statusFailure,
  statusOfError,
  stopped,
} from './errors.ts';
import { arrayOf, isObject, parseJson } from './json-shape.ts';
import { type HttpRequest, httpFetch, isHttpUrl } from './http-fetch.ts';
import { messageEvents } from './message-events.ts';
import { createMessageFold } from './message-fold.ts';
import { modelFacts } from './model-facts.ts';
import { modelTraits } from './model-traits.ts';
import { type RetryOptions, withRetries } from './retry.ts';
import { type SseEvent, SseReader } from './sse.ts';

export interface AnthropicOptions extends RetryOptions {
  /** Default: `ANTHROPIC_API_KEY`. */
  readonly apiKey?: string;
  /** A bearer token, for gateways; default: `ANTHROPIC_AUTH_TOKEN`, read only where there is no key. */
  readonly authToken?: string;
  /** Default: `ANTHROPIC_BASE_URL`, else the public API. */
  readonly baseURL?: string;
  /** For requests that name none. Default: what the model can give, at most 32,000. */
  readonly maxTokens?: number;
  /** Messages API fields of every request that doesn't bring them itself, e.g. `{thinking: {type: 'adaptive'}}`. */
  readonly request?: JsonObject;
  /**
   * How long the provider caches tools, system prompt and what was said, so that the next request pays a tenth for them;
   * `false` sets no marks. Default `5m`. Requests that mark their messages themselves, or have `cache_control`, are left as
   * they are.
   */
  readonly cache?: CacheTtl | false;
  /** Beta features, sent as `anthropic-beta`. */
  readonly betas?: readonly string[];
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The longest that one attempt may take, streaming included, in ms; default 30 minutes. */
  readonly timeoutMs?: number;
}

const PUBLIC_API = 'https://api.anthropic.com';
const DEFAULT_MAX_TOKENS = 32_000;
const CAUTIOUS_MAX_TOKENS = 8_192;
const DEFAULT_TIMEOUT_MS = 30 * 60_000;
/** Lets a request say what becomes of thinking that doesn't fit any more. */
const BINDING_BETA = 'thinking-binding-controls-2026-08-01';
const DROPPING = { prefix_mismatch_behavior: 'drop_block' } as const;
const KEY_HINT =
  'Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN behind a gateway), or use --model offline, which needs no key.';

/**
 * A Claude model over the Messages API. Always streams. A request is always whole:
 * server-held message threads are never used, so that it means the same behind any proxy.
 *
 * After `onWait`, a new `message_start` takes the place of whatever was streamed before.
 *
 * @param id e.g. `claude-opus-5-5`
 * @throws BridleError `tool_choice_never_ends` for a `request` that forces a call in every reply
 * @throws (from `respond`) BridleError `model_no_key`, `model_unreachable`, `model_connection_lost`,
 *   `model_key_refused`, `model_forbidden`, `model_not_found`, `model_request_refused`, `model_rate_limited`,
 *   `model_overloaded`, `model_timeout`, `model_bad_answer`, `model_bad_url`, `model_aborted`
 */
export function anthropicModel(id: string, options: AnthropicOptions = {}): Model {
  const cannotForce = checkRequest(options.request ?? {});
  return {
    id,
    ...(cannotForce !== undefined && { cannotForce }),
    async respond(request, ctx) {
      const endpoint = anthropicEndpoint(id, options);
      const sent = httpRequest(requestBody(id, request, options), options);
      return withRetries(() => attempt(sent, endpoint, ctx, options), ctx, options);
    },
  };
}

/**
 * What fields of every request mean for choosing tools.
 *
 * @returns why they leave no call to be forced, if they do
 * @throws BridleError `tool_choice_never_ends`
 */
function checkRequest({ tool_choice, thinking, compaction, max_tokens }: JsonObject): string | undefined {
  if (isObject(tool_choice) && (tool_choice.type === 'any' || tool_choice.type === 'tool')) {
    throw new BridleError(
      'tool_choice_never_ends',
      '`request.tool_choice` forces a call in every reply of this model, so no run would end.',
      {
        hint: "Leave it out, and give the agent a plan: toolChoice: { first: …, after: 'auto' }.",
      },
    );
  }
  if (isObject(thinking) && thinking.type === 'enabled') return 'no call can be forced while thinking has a budget';
  if (isObject(compaction)) return 'no call can be forced in a compaction';
  return max_tokens === 0 ? 'no call can be forced with max_tokens: 0' : undefined;
}

/**
 * The credential that `anthropicModel` would use.
 *
 * @throws BridleError `model_no_key`
 */
export function anthropicCredential(options: Pick<AnthropicOptions, 'apiKey' | 'authToken'> = {}): {
  readonly apiKey: string | null;
  readonly authToken: string | null;
} {
  if (options.apiKey) return { apiKey: options.apiKey, authToken: null };
  if (options.authToken) return { apiKey: null, authToken: options.authToken };
  const apiKey = process.env.ANTHROPIC_API_KEY?.trim();
  if (apiKey) return { apiKey, authToken: null };
  const authToken = process.env.ANTHROPIC_AUTH_TOKEN?.trim();
  if (authToken) return { apiKey: null, authToken };
  throw new BridleError('model_no_key', 'There is no key for the Anthropic API.', { hint: KEY_HINT });
}

/**
 * Where requests go.
 *
 * @throws BridleError `model_bad_url`
 */
export function anthropicEndpoint(id: string, options: AnthropicOptions): Endpoint {
  const url = options.baseURL || process.env.ANTHROPIC_BASE_URL?.trim() || PUBLIC_API;
  if (!isHttpUrl(url)) {
    throw new BridleError(
      'model_bad_url',
      `The base URL ${JSON.stringify(url)} for ${id} is not an http or https URL.`,
      {
        hint: 'Check ANTHROPIC_BASE_URL: it looks like https://host, without /v1.',
      },
    );
  }
  return { model: id, url, keyHint: KEY_HINT };
}

/** The version that requests are written in (https://platform.claude.com/docs/en/api/versioning). */
const API_VERSION = '2026-10-21';

/**
 * One request as it goes out.
 *
 * @throws BridleError `model_no_key`
 */
function httpRequest(
  body: JsonObject,
  options: AnthropicOptions,
): { readonly headers: Record<string, string>; readonly body: string } {
  const { apiKey, authToken } = anthropicCredential(options);
  const { betas, user_profile_id, workspace_id, ...rest } = body;
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    'user-agent': 'bridle',
    'anthropic-version': API_VERSION,
    ...(apiKey !== null && { 'x-api-key': apiKey }),
    ...(authToken !== null && { authorization: `Bearer ${authToken}` }),
    ...(Array.isArray(betas) && { 'anthropic-beta': betas.join(',') }),
    ...(typeof user_profile_id === 'string' && { 'anthropic-user-profile-id': user_profile_id }),
    ...(typeof workspace_id === 'string' && { 'anthropic-workspace-id': workspace_id }),
  };
  const given = { ...lowerCased(customHeaders()), ...lowerCased(options.headers) };
  return { headers: { ...headers, ...given }, body: JSON.stringify(rest) };
}

/** `ANTHROPIC_CUSTOM_HEADERS`: one header a line, as Anthropic's own programs read it. */
function customHeaders(): Record<string, string> {
  const lines = (process.env.ANTHROPIC_CUSTOM_HEADERS ?? '').split('\n').map((line) => line.split(/:(.*)/s, 2));
  return Object.fromEntries(
    lines.flatMap(([name = '', value]) => (value === undefined ? [] : [[name.trim(), value.trim()]])),
  );
}

/** Names of headers are the same in any case, so that those that were given take the place of others. */
function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function requestBody(id: string, request: Json, options: AnthropicOptions): JsonObject {
  if (!isObject(request)) throw new TypeError('a Messages API request is a JSON object');
  const { thread: _thread, betas, ...body } = { ...options.request, ...request };
  const own = options.request?.container;
  // Skills are named anew in every request, also once their container has an id.
  if (isObject(own) && typeof body.container === 'string') body.container = { ...own, id: body.container };
  const output = options.request?.output_config;
  // Of the answer's form a request may say a part, and the options another.
  if (isObject(output) && isObject(body.output_config)) body.output_config = { ...output, ...body.output_config };
  const limit = modelFacts(id)?.maxOutput ?? CAUTIOUS_MAX_TOKENS;
  const thinking = droppingThinking(id, body.thinking);
  const allBetas = [
    ...new Set([...(options.betas ?? []), ...arrayOf(betas), ...(thinking === undefined ? [] : [BINDING_BETA])]),
  ];
  return {
    ...(options.cache === false ? body : withCacheMarks(body, options.cache)),
    model: id,
    stream: true,
    ...(thinking !== undefined && { thinking }),
    max_tokens: body.max_tokens ?? options.maxTokens ?? Math.min(limit, DEFAULT_MAX_TOKENS),
    ...(allBetas.length > 0 && { betas: allBetas }),
  };
}

/**
 * `thinking` for a model that refuses thinking blocks before which something has changed: tools came or went, or a
 * conversation goes on under another prompt. Blocks that can't be used any more are dropped then, and the request is taken.
 *
 * @returns `undefined` where it is to stay as it is
 */
function droppingThinking(id: string, thinking: Json | undefined): JsonObject | undefined {
  if (modelTraits(id)?.boundThinking !== true) return undefined;
  if (thinking === undefined) return { type: 'adaptive', block_binding: DROPPING };
  return isObject(thinking) && thinking.type === 'adaptive' && thinking.block_binding === undefined
    ? { ...thinking, block_binding: DROPPING }
    : undefined;
}

async function attempt(
  sent: HttpRequest,
  endpoint: Endpoint,
  ctx: Parameters<Model['respond']>[1],
  options: AnthropicOptions,
): Promise<ModelReply> {
  const limit = deadline(ctx.signal, options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const fold = createMessageFold();
  try {
    for await (const events of streamEvents(sent, endpoint, limit)) {
      for (const event of events) {
        fold.apply(event);
        ctx.onDelta?.(event);
      }
    }
  } finally {
    limit.release();
  }
  if (!fold.isComplete()) throw cutReply(endpoint);
  return fold.reply();
}

/** The reply's events as they come in, or the error that says why there are none; errors of whoever consumes them pass untouched. */
async function* streamEvents(sent: HttpRequest, endpoint: Endpoint, limit: Deadline): AsyncGenerator<readonly Json[]> {
  const { signal } = limit;
  const failing = (error: unknown): never => {
    if (signal.aborted) throw stopped(limit, endpoint);
    throw isConnectionError(error) ? connectionFailure(error, endpoint) : error;
  };
  // Follows no redirect: that would carry the conversation and the key to a place that nobody named.
  const answer = await httpFetch(`${endpoint.url.replace(/\/+$/, '')}/v1/messages?beta=true`, {
    ...sent,
    method: 'POST',
    signal,
  }).catch(failing);
  if (!answer.ok) {
    const text = await answer.text().catch(failing);
    throw statusFailure({ status: answer.status, headers: answer.headers, body: text }, endpoint);
  }
  const contentType = answer.headers.get('content-type') ?? '';
  if (contentType !== '' && !contentType.includes('text/event-stream')) {
    yield wholeReply(contentType, await answer.text().catch(failing), endpoint);
    return;
  }
  const reader = new SseReader();
  const pieces = answer.body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await pieces.next().catch(failing);
      // An aborted stream may end quietly, so it is asked here.
      if (signal.aborted) failing(signal.reason);
      const events = next.done ? reader.end() : readPiece(reader, next.value, endpoint);
      if (events.length > 0) yield events.flatMap((event) => eventOf(event, endpoint));
      if (next.done) return;
    }
  } finally {
    await pieces.return?.();
  }
}

/** Some proxies answer a streaming request in one piece; errors may come with HTTP 200 then. */
function wholeReply(contentType: string, text: string, endpoint: Endpoint): readonly Json[] {
  const whole = parseJson(text);
  if (isObject(whole) && whole.type === 'error') throw toldFailure(whole, text, endpoint);
  if (!isObject(whole) || whole.type !== 'message') throw badAnswer(endpoint, contentType, text);
  return [...messageEvents(whole)];
}

function readPiece(reader: SseReader, bytes: Uint8Array, endpoint: Endpoint): readonly SseEvent[] {
  try {
    return reader.read(bytes);
  } catch (error) {
    throw error instanceof RangeError ? badAnswer(endpoint, 'an event stream', error.message) : error;
  }
}

/** What one event says; a ping says nothing. */
function eventOf({ event, data }: SseEvent, endpoint: Endpoint): readonly Json[] {
  if (event === 'ping') return [];
  const value = parseJson(data);
  if (event === 'error' || (isObject(value) && value.type === 'error')) throw toldFailure(value, data, endpoint);
  if (value === undefined) throw badAnswer(endpoint, 'a broken event stream', data);
  return isObject(value) && value.type === 'ping' ? [] : [value];
}

/** An error that is told where the status can't tell it any more. */
function toldFailure(value: Json | undefined, text: string, endpoint: Endpoint): unknown {
  const status = statusOfError(isObject(value) ? value.error : undefined);
  return statusFailure({ status, headers: undefined, body: text }, endpoint);
}
