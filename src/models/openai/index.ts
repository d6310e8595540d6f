import type { Json, JsonObject, Model, ModelReply } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import { type Deadline, deadline } from '../deadline.ts';
import {
  badAnswer,
  connectionFailure,
  cutReply,
  type Endpoint,
  isConnectionError,
  statusFailure,
  statusOfError,
  stopped,
} from '../errors.ts';
import { httpFetch, isHttpUrl } from '../http-fetch.ts';
import { isObject, parseJson } from '../json-shape.ts';
import { createMessageFold } from '../message-fold.ts';
import { type RetryOptions, withRetries } from '../retry.ts';
import { type SseEvent, SseReader } from '../sse.ts';
import { createChatReply } from './reply.ts';
import { callIds, toChatRequest } from './request.ts';

export interface OpenAIOptions extends RetryOptions {
  /** Ends before `/chat/completions`; default: `OPENAI_BASE_URL`, else the public API. */
  readonly baseURL?: string;
  /**
   * Default: `OPENAI_API_KEY`, but only for the place that it is meant for: a `baseURL` of another origin than the
   * default's gets no key unless it is given here.
   */
  readonly apiKey?: string;
  /** For requests that name none. Default: the server's own limit. */
  readonly maxTokens?: number;
  /** Chat completions fields of every request that doesn't bring them itself, e.g. `{reasoning_effort: 'low'}`. */
  readonly request?: JsonObject;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The longest that one attempt may take, streaming included, in ms; default 30 minutes. */
  readonly timeoutMs?: number;
}

const PUBLIC_API = 'https://api.openai.com/v1';
const DEFAULT_TIMEOUT_MS = 30 * 60_000;
const KEY_HINT = 'Set OPENAI_API_KEY (and OPENAI_BASE_URL for another provider), or use --model offline.';

/**
 * A model behind an OpenAI-compatible chat completions endpoint (OpenAI, Ollama, vLLM, LM Studio, llama.cpp), spoken to
 * in the Messages API's shape. Always streams. A server that doesn't count tokens gives a usage of zeros.
 *
 * After `onWait`, a new `message_start` takes the place of whatever was streamed before.
 *
 * @param id the model's name at the endpoint, e.g. `qwen3:8b`
 * @throws (from `respond`) the errors of `anthropicModel`, and BridleError `model_tool_unsupported` for tools that only
 *   Anthropic's servers run
 */
export function openaiModel(id: string, options: OpenAIOptions = {}): Model {
  return {
    id: `openai:${id}`,
    async respond(request, ctx) {
      if (!isObject(request)) throw new TypeError('a Messages API request is a JSON object');
      const target = openaiTarget(id, options);
      const whole = {
        ...request,
        ...(request.max_tokens === undefined && options.maxTokens !== undefined && { max_tokens: options.maxTokens }),
      };
      const body: JsonObject = {
        ...options.request,
        model: id,
        ...toChatRequest(whole, { tokensField: target.isPublic ? 'max_completion_tokens' : 'max_tokens' }),
      };
      return withRetries(() => attempt(target, body, callIds(whole), ctx, options), ctx, options);
    },
  };
}

interface Target extends Endpoint {
  readonly isPublic: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Where requests go, and with what.
 *
 * @throws BridleError `model_bad_url`, `model_no_key`
 */
export function openaiTarget(id: string, options: OpenAIOptions): Target {
  const usual = process.env.OPENAI_BASE_URL?.trim() || PUBLIC_API;
  const url = (options.baseURL || usual).replace(/\/+$/, '');
  if (!isHttpUrl(url)) {
    throw new BridleError(
      'model_bad_url',
      `The base URL ${JSON.stringify(url)} for ${id} is not an http or https URL.`,
      {
        hint: 'It looks like http://localhost:11434/v1; check OPENAI_BASE_URL or the part after @.',
      },
    );
  }
  const isPublic = new URL(url).origin === new URL(PUBLIC_API).origin;
  const meantForIt = URL.canParse(usual) && new URL(usual).origin === new URL(url).origin;
  const key = options.apiKey || (meantForIt ? process.env.OPENAI_API_KEY?.trim() : undefined);
  if (isPublic && !key) {
    throw new BridleError('model_no_key', 'There is no key for the OpenAI API.', { hint: KEY_HINT });
  }
  return {
    model: id,
    url,
    keyHint: meantForIt
      ? KEY_HINT
      : 'OPENAI_API_KEY is sent only to OPENAI_BASE_URL: set both for this server, or give apiKey in code.',
    isPublic,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      ...(key && { authorization: `Bearer ${key}` }),
      ...options.headers,
    },
  };
}

async function attempt(
  target: Target,
  body: JsonObject,
  usedIds: ReadonlySet<string>,
  ctx: Parameters<Model['respond']>[1],
  options: OpenAIOptions,
): Promise<ModelReply> {
  const limit = deadline(ctx.signal, options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const fold = createMessageFold();
  const reply = createChatReply(target.model, usedIds);
  const deliver = (events: readonly JsonObject[]) => {
    for (const event of events) {
      fold.apply(event);
      ctx.onDelta?.(event);
    }
  };
  try {
    let sawDone = false;
    for await (const chunk of chunks(target, body, limit)) {
      if (chunk === null) sawDone = true;
      else deliver(reply.chunk(chunk));
    }
    const ending = reply.finish(sawDone);
    if (ending === undefined) throw cutReply(target);
    deliver(ending);
  } finally {
    limit.release();
  }
  return fold.reply();
}

/** The reply's chunks; `null` for its end mark. Errors of whoever consumes them pass untouched. */
async function* chunks(target: Target, body: JsonObject, limit: Deadline): AsyncGenerator<JsonObject | null> {
  const failing = (error: unknown): never => {
    if (limit.signal.aborted) throw stopped(limit, target);
    if (error instanceof RangeError) throw badAnswer(target, 'an event stream', error.message);
    throw isConnectionError(error) ? connectionFailure(error, target) : error;
  };
  // Follows no redirect: that would carry the conversation, and perhaps the key, to a place that nobody named.
  const response = await httpFetch(`${target.url}/chat/completions`, {
    method: 'POST',
    headers: target.headers,
    body: JSON.stringify(body),
    signal: limit.signal,
  }).catch(failing);
  if (!response.ok) {
    const text = await response.text().catch(failing);
    throw statusFailure({ status: response.status, headers: response.headers, body: text }, target);
  }
  const contentType = response.headers.get('content-type') ?? '';
  if (contentType !== '' && !contentType.includes('text/event-stream')) {
    yield wholeReply(contentType, await response.text().catch(failing), target);
    yield null;
    return;
  }
  const reader = new SseReader();
  const pieces = response.body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await pieces.next().catch(failing);
      for (const { data } of next.done ? reader.end() : readPiece(reader, next.value, failing)) {
        yield parseChunk(data, contentType, target);
      }
      if (next.done) return;
    }
  } finally {
    await pieces.return?.();
  }
}

function readPiece(reader: SseReader, bytes: Uint8Array, failing: (error: unknown) => never): readonly SseEvent[] {
  try {
    return reader.read(bytes);
  } catch (error) {
    return failing(error);
  }
}

function parseChunk(data: string, contentType: string, target: Endpoint): JsonObject | null {
  if (data.trim() === '[DONE]') return null;
  const chunk = parseJson(data);
  if (!isObject(chunk)) throw badAnswer(target, contentType || 'an event stream', data);
  throwIfError(chunk, data, target);
  return chunk;
}

/** Some servers and proxies answer a streaming request in one piece. */
function wholeReply(contentType: string, text: string, target: Endpoint): JsonObject {
  const whole = parseJson(text);
  if (isObject(whole)) throwIfError(whole, text, target);
  if (!isObject(whole) || !Array.isArray(whole.choices)) throw badAnswer(target, contentType, text);
  return whole;
}

/** Errors that come with HTTP 200, inside the stream or instead of it. */
function throwIfError(chunk: JsonObject, text: string, target: Endpoint): void {
  const error: Json | undefined = chunk.error;
  if (error === undefined || error === null) {
    if (chunk.object !== 'error') return;
  }
  const status = statusOfError(isObject(error) ? error : chunk);
  throw statusFailure({ status, headers: undefined, body: text }, target);
}
