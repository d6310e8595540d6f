import { randomUUID } from 'node:crypto';
import type {
  CallContext,
  Identity,
  InputKind,
  Json,
  JsonObject,
  TraceContext,
  VisitNotes,
} from '../../contracts/index.ts';
import { Cancellation, SignalOnDemand } from '../../tools/index.ts';
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
  const ctx = new ServedContext(exchange, onEvent);
  const { push } = exchange;
  if (push && ctx.canAnswer.includes('url'))
    ctx.visits = notesOf(push, exchange.limitMs === undefined ? visits : undefined);
  if (answers) ctx.answers = answers;
  if (redelivery !== undefined) ctx.redelivery = redelivery;
  return ctx;
}

/** A class, since its signal is made on demand, and so that every call's context has the same shape. */
class ServedContext extends SignalOnDemand implements CallContext {
  readonly callId = randomUUID();
  readonly who: Identity;
  readonly idleMs: number;
  readonly hardMs: number;
  readonly onEvent: OnEvent;
  readonly canAnswer: readonly InputKind[];
  // Only where there is something in them: whoever gets the call looks at what is there.
  declare readonly disconnect?: () => void;
  declare readonly trace?: TraceContext;
  declare readonly input?: NonNullable<CallContext['input']>;
  declare readonly takesQuestions?: true;
  declare visits?: VisitNotes;
  declare answers?: Answers;
  declare redelivery?: string;

  constructor(exchange: Exchange, onEvent: OnEvent) {
    const { signal, meta, disconnect, limitMs } = exchange;
    super(signal instanceof Cancellation ? signal : { signal });
    this.who = exchange.peer.who;
    this.idleMs = limitMs ?? IDLE_MS;
    this.hardMs = limitMs ?? HARD_MS;
    this.onEvent = onEvent;
    this.canAnswer = answerable(exchange.capabilities);
    const trace = meta.traceparent === undefined ? undefined : traceIn(meta);
    if (trace) this.trace = trace;
    if (disconnect) this.disconnect = disconnect;
    // Revision 2026-07-28 has no requests from server to client: there, input is asked for by an input_required result.
    if (exchange.ask && !exchange.asksByResult) {
      // Not written where the property is set: V8 keeps such a function, and its request, until the next full collection.
      const ask: NonNullable<CallContext['input']> = (request) => askClient(exchange, request.parse());
      this.input = ask;
    } else this.takesQuestions = true;
  }
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
