import { randomUUID } from 'node:crypto';
import type { CallContext, Json, JsonObject, TraceContext, VisitNotes } from '../../contracts/index.ts';
import { CODES } from '../wire/index.ts';
import { answerable, askClient } from './client-input.ts';
import { isObject } from './is-object.ts';
import type { Exchange } from './peer.ts';
import { RpcError } from './rpc.ts';

/** Longest silence and longest call in milliseconds. The client has its own, shorter ones; these only free resources. */
const IDLE_MS = 5 * 60_000;
const HARD_MS = 60 * 60_000;

type OnEvent = NonNullable<CallContext['onEvent']>;
export type Answers = NonNullable<CallContext['answers']>;

/**
 * One call as the host sees it. `answers` are those to an earlier round; `redelivery` names the call where the client may
 * send it again.
 */
export function callContext(
  exchange: Exchange,
  onEvent: OnEvent,
  {
    answers,
    redelivery,
    visits,
  }: {
    readonly answers?: Answers | undefined;
    readonly redelivery?: string | undefined;
    /** Takes the addresses that have to be visited before the call can be made. */
    readonly visits?: Json[];
  },
): CallContext {
  const { peer, signal, meta } = exchange;
  const trace = meta.traceparent === undefined ? undefined : traceIn(meta);
  const { push } = exchange;
  const canAnswer = answerable(exchange.capabilities);
  return {
    callId: randomUUID(),
    who: peer.who,
    signal,
    idleMs: exchange.limitMs ?? IDLE_MS,
    hardMs: exchange.limitMs ?? HARD_MS,
    onEvent,
    canAnswer,
    ...(push &&
      canAnswer.includes('url') && { visits: notesOf(push, exchange.limitMs === undefined ? visits : undefined) }),
    ...(exchange.disconnect && { disconnect: exchange.disconnect }),
    ...(answers && { answers }),
    ...(redelivery !== undefined && { redelivery }),
    ...(trace && { trace }),
    // Revision 2026-07-28 has no requests from server to client: there, input is asked for by an input_required result.
    ...(exchange.ask && !exchange.asksByResult
      ? { input: (request) => askClient(exchange, request.parse()) }
      : { takesQuestions: true }),
  };
}

/** Visits as 2025-11-25 has them. A task asks for them, since it needn't end for that. */
function notesOf(push: NonNullable<Exchange['push']>, visits: Json[] | undefined): VisitNotes {
  return {
    over: (elicitationId) => push('notifications/elicitation/complete', { elicitationId }),
    ...(visits && { before: (params) => void visits.push(params) }),
  };
}

/** W3C Trace Context, `traceparent`: any version but the reserved one, ids that aren't all zero. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const MAX_TRACESTATE = 512;

function traceIn({ traceparent, tracestate }: JsonObject): TraceContext | undefined {
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return undefined;
  const isState = typeof tracestate === 'string' && tracestate.length <= MAX_TRACESTATE;
  return { traceparent, ...(isState && { tracestate }) };
}

function invalid(what: string): RpcError {
  return new RpcError(CODES.invalidParams, `Invalid params: ${what}`);
}

/**
 * What the request answers of an earlier round.
 *
 * @throws RpcError for what no answer of a client looks like
 */
export function answersIn({ inputResponses, requestState }: JsonObject): Answers | undefined {
  if (inputResponses === undefined && requestState === undefined) return undefined;
  if (requestState !== undefined && typeof requestState !== 'string') throw invalid('requestState must be a string');
  const responses = inputResponses ?? {};
  if (inputResponses === null || !isObject(responses) || !Object.values(responses).every(isObject))
    throw invalid('inputResponses must be an object of results');
  return { responses, ...(requestState !== undefined && { state: requestState }) };
}

/** Progress and log messages of one call, in order, and none after its result or its cancellation. */
export function eventRelay(exchange: Exchange): { readonly onEvent: OnEvent; finish(): void } {
  const token = exchange.meta.progressToken;
  const wantsProgress = typeof token === 'string' || typeof token === 'number';
  let open = true;
  return {
    onEvent(event) {
      const isHeard = event.kind === 'log' || wantsProgress || exchange.progressed !== undefined;
      if (!open || exchange.signal.aborted || !isHeard) return;
      const params = event.raw.parse();
      if (!isObject(params)) return;
      if (event.kind === 'progress') exchange.progressed?.(params);
      if (event.kind === 'progress' && !wantsProgress) return;
      if (event.kind === 'progress')
        exchange.notify('notifications/progress', { ...params, progressToken: token ?? 0 });
      else if (exchange.wantsLog(params.level)) exchange.notify('notifications/message', params);
    },
    finish() {
      open = false;
    },
  };
}
