import { setTimeout as delay } from 'node:timers/promises';
import type { Json, JsonObject } from '../../contracts/index.ts';
import { isBridleError } from '../../tools/index.ts';
import { alteredBy, type Fault } from '../fault.ts';
import { isObject, isString } from '../rules/shape.ts';
import type { TurnSource } from '../turn-source.ts';
import { estimateTokens } from './estimate-tokens.ts';
import type { DoubleAnswer, DoubleRequest, Exchange } from './exchange.ts';
import { inspectMessages, inspectTransport } from './inspect.ts';
import { modelList, modelNamed } from './models-list.ts';
import { notFound, type Refusal, refusalAnswer } from './refusal.ts';
import { requestIdOf, wholeReply } from './reply.ts';
import { givenBlocks } from './signatures.ts';
import type { Split } from './split.ts';
import { streamBody } from './stream-body.ts';
import { createThreads } from './threads.ts';

export interface HandlerOptions {
  readonly source: TurnSource;
  readonly split: Split;
  /** The only key that is taken; default: any. */
  readonly key: string | undefined;
  /** Told of each request when its answer is known. */
  onExchange(exchange: Exchange): void;
}

/** Answers requests as the Messages API does, whichever way they came. */
export type Handler = (request: DoubleRequest) => Promise<DoubleAnswer>;

export function createHandler(options: HandlerOptions): Handler {
  const threads = createThreads();
  const given = givenBlocks();
  let asked = 0;
  let turns = 0;

  return async (request) => {
    asked += 1;
    const number = asked;
    const requestId = requestIdOf(number);
    const json = parsedJson(request.body);
    const body = isObject(json) ? json : null;
    const betas = (request.headers.get('anthropic-beta') ?? '').split(',').flatMap((beta) => beta.trim() || []);
    const noted = { number, method: request.method, path: request.path, body, betas };
    const tell = (rest: Partial<Exchange> & { readonly status: number }): void =>
      options.onExchange({ ...noted, refusals: [], ...rest });

    const refuse = (refusal: Refusal, refusals: Exchange['refusals'] = [], fault?: string): DoubleAnswer => {
      tell({ status: refusal.status, refusals, ...(fault !== undefined && { fault }) });
      return refusalAnswer(refusal, requestId);
    };
    const answer = (value: JsonObject): DoubleAnswer => ({
      status: 200,
      headers: { 'content-type': 'application/json', 'request-id': requestId },
      body: JSON.stringify(value),
    });

    // Some clients look whether anybody is there before they send a key.
    if (request.path === '/' && request.method !== 'POST') {
      tell({ status: 200 });
      return answer({});
    }
    const { method, path, headers } = request;
    const size = Buffer.byteLength(request.body);
    const transport = inspectTransport({ method, path, headers, json, size, key: options.key });
    if (transport !== undefined) return refuse(transport.refusal, transport.refusals);
    if (request.path.startsWith('/v1/models') && request.method === 'GET') {
      const id = decodeURIComponent(request.path.slice('/v1/models/'.length));
      const found = id === '' ? modelList() : modelNamed(id);
      if (found === undefined) return refuse(notFound(`model: ${id}`));
      tell({ status: 200 });
      return answer(found);
    }
    const counting = request.path === '/v1/messages/count_tokens';
    if ((request.path !== '/v1/messages' && !counting) || request.method !== 'POST' || body === null) {
      return refuse(notFound('Not Found'));
    }

    const resolved = counting ? { body } : threads.resolve(body, betas);
    if ('refusal' in resolved) {
      return refuse(resolved.refusal, [{ rule: 'threads', message: resolved.refusal.message }]);
    }
    const whole = resolved.body;
    const broken = inspectMessages({ ...whole, betas: [...betas] }, given);
    if (broken !== undefined) return refuse(broken.refusal, broken.refusals);
    if (counting) {
      const inputTokens = estimateTokens(whole);
      tell({ status: 200, inputTokens });
      return answer({ input_tokens: inputTokens, context_management: null });
    }

    turns += 1;
    const turn = await options.source
      .next(whole, { turn: turns, signal: request.signal })
      .catch((error: unknown): { readonly error: unknown } => ({ error }));
    if ('error' in turn) return refuse(failureOf(turn.error), [], 'the turn failed');
    const { fault } = turn;
    const label = fault?.kind;
    const instead = insteadOf(fault, body.stream === true);
    if (instead === 'closed') {
      tell({ status: 0, ...(label !== undefined && { fault: label }) });
      return 'closed';
    }
    if (instead !== undefined) return refuse(instead, [], label);
    const reply = given.give(wholeReply(alteredBy(fault, turn.message ?? {}), whole, number), whole);
    threads.keep(body, whole, reply);
    const inputTokens = Number((reply.usage as JsonObject).input_tokens);
    tell({ status: 200, reply, inputTokens, ...(label !== undefined && { fault: label }) });
    if (body.stream !== true) {
      if (fault?.kind === 'slow') await delay(fault.ms);
      return answer(fault?.kind === 'truncate_call' ? withoutLastInput(reply) : reply);
    }
    return {
      status: 200,
      headers: {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        'request-id': requestId,
      },
      body: streamBody(reply, { split: options.split, fault, requestId, signal: request.signal }),
    };
  };
}

function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** What comes instead of a reply. In an unstreamed one nothing can happen in the middle. */
function insteadOf(fault: Fault | undefined, streamed: boolean): Refusal | 'closed' | undefined {
  const overloaded: Refusal = { status: 529, type: 'overloaded_error', message: 'Overloaded' };
  switch (fault?.kind) {
    case 'rate_limit':
      return {
        status: 429,
        type: 'rate_limit_error',
        message: "This request would exceed your organization's rate limit. Please try again later.",
        headers: { 'retry-after': String(fault.retryAfter ?? 1) },
      };
    case 'overloaded':
      return overloaded;
    case 'server_error':
      return { status: 500, type: 'api_error', message: 'Internal server error' };
    case 'drop':
      return 'closed';
    case 'drop_during':
      return streamed ? undefined : 'closed';
    case 'error_during':
      return streamed ? undefined : overloaded;
    default:
      return undefined;
  }
}

/** A turn that can't be given is the fault of the script, and trying again doesn't mend it. */
function failureOf(error: unknown): Refusal {
  const message = error instanceof Error ? error.message : String(error);
  const words = isBridleError(error) && isString(error.code) ? `${error.code}: ${message}` : message;
  return { status: 500, type: 'api_error', message: words, headers: { 'x-should-retry': 'false' } };
}

function withoutLastInput(reply: JsonObject): JsonObject {
  const content = Array.isArray(reply.content) ? [...reply.content] : [];
  const at = content.findLastIndex((block) => isObject(block) && block.type === 'tool_use');
  if (at !== -1) content[at] = { ...(content[at] as JsonObject), input: {} };
  return { ...reply, content };
}
