import type { Identity, ServerRef } from './identity.ts';
import type { Json, JsonObject, RawJson } from './json.ts';
import type { Provenance } from './origin.ts';
import type { Reason } from './tool.ts';

/** What is known of a failed call's effect. Only `not_executed`, or an idempotent tool, may be retried. */
export type Executed = 'executed' | 'not_executed' | 'unknown';

export interface Failure {
  readonly category: 'transient' | 'validation' | 'business' | 'permission';
  readonly retryable: boolean;
  /** For the model: what went wrong, with which thing, and what to try. */
  readonly message: string;
  readonly executed: Executed;
  /** What was tried, one line each. */
  readonly attempts: readonly string[];
  readonly alternatives?: readonly string[];
  readonly partial?: RawJson;
  /** It was given up as it was silent for too long, or took too long. */
  readonly timedOut?: boolean;
  /** The request itself was wrong, and not what it asks for: an error of the protocol, where the caller speaks one. */
  readonly badRequest?: boolean;
  /** What the caller would have had to declare that it answers (MCP ClientCapabilities): an error of MCP 2026-07-28. */
  readonly requires?: JsonObject;
}

/** Of a run of another agent that a call started: what comes back with its answer, said by the host and never by a server. */
export interface StartedRun {
  readonly agent: string;
  readonly conversation: string;
  /** What has entered it, as in `Provenance.labels`: it has entered the conversation that gets the answer as well. */
  readonly labels: readonly string[];
  /** Tokens, and US dollars where the price is known: they count for the run that started it. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd?: number };
  /** Its calls that wait for somebody's approval and have not run. */
  readonly parked: readonly { readonly callId: string; readonly name: string; readonly approval: string }[];
}

/** What a source answers. `raw` is an MCP `CallToolResult` (2025-11-25 or later), whatever the source is. */
export type SourceResult =
  | { readonly kind: 'result'; readonly raw: RawJson; readonly isError: boolean; readonly run?: StartedRun }
  | { readonly kind: 'input_required'; readonly requests: RawJson; readonly state?: string }
  | { readonly kind: 'failure'; readonly failure: Failure; readonly run?: StartedRun };

/** Where a server's request comes from; said by the dispatcher, never by the server. */
export interface InputOrigin {
  readonly callId: string;
  readonly server: ServerRef | null;
  /** The tool whose call it belongs to, as its server spells it; or what else of the server `part` says. */
  readonly tool: string;
  /** What `tool` names, where it isn't a tool: the address of a resource that is read, a prompt. */
  readonly part?: 'resource' | 'prompt';
  /** Aborted when the call is cancelled while the request stands. */
  readonly signal: AbortSignal;
}

/** A span of the caller's, to go on from in the same trace: the header fields of W3C Trace Context. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** What a caller can be asked for: its person, by a form or at an address, its model, its folders. */
export type InputKind = 'form' | 'url' | 'sampling' | 'roots';

export interface VisitNotes {
  /**
   * The call ends here, and is made again after a visit.
   *
   * @param params `ElicitRequestURLParams`
   */
  before?(params: Json): void;
  /** What the person went to an address for is over. */
  over(elicitationId: string): void;
}

export interface CallContext {
  readonly callId: string;
  /**
   * Set by a front door that may hand over the same call more than once, to what it gave the caller for this very call. A
   * call that comes again under it, in the same conversation and for the same agent and user, is a retry and no other
   * call. Never an id that a model or a client chose: those come twice by accident.
   */
  readonly redelivery?: string;
  readonly who: Identity;
  readonly signal: AbortSignal;
  /** Longest silence in milliseconds; progress starts it anew. */
  readonly idleMs: number;
  /** Longest call in milliseconds; nothing extends it. */
  readonly hardMs: number;
  /** The caller takes an `input_required` result and comes back with answers (MCP 2026-07-28). */
  readonly takesQuestions?: boolean;
  /** What the caller says it can be asked for, by a question or by `input`. Absent: it says nothing. */
  readonly canAnswer?: readonly InputKind[];
  /** The second leg of an `input_required` exchange. */
  readonly answers?: { readonly responses: Json; readonly state?: string };
  /** Told to an MCP server in `_meta`; set by the dispatcher where a recorder knows it. */
  readonly trace?: TraceContext;
  onEvent?(e: { readonly kind: 'progress' | 'log'; readonly raw: RawJson }): void;
  /** Ends the stream on which the caller waits; it comes back for the rest. Absent: it can't. */
  disconnect?(): void;
  /** What only a caller of MCP 2025-11-25 is told of the addresses that its person is sent to. */
  readonly visits?: VisitNotes;
  /**
   * Elicitation, sampling and roots requests of the server, answered by the host with the result of the request's
   * method. Rejects when it isn't answered.
   *
   * @param request the MCP request: `{method, params?, …}`
   * @param from set by the dispatcher
   */
  input?(request: RawJson, from?: InputOrigin): Promise<Json>;
}

/** The tagged end of a call. `unknown_tool`, `invalid`, `denied` and `parked` have not run. */
export type Outcome =
  | {
      readonly kind: 'ok';
      readonly raw: RawJson;
      readonly isError: boolean;
      /** `agent` profile only: the `tool_result` content for a model, bounded in size. */
      readonly content?: Json;
      readonly run?: StartedRun;
    }
  | { readonly kind: 'input_required'; readonly requests: RawJson; readonly state?: string }
  | { readonly kind: 'unknown_tool' | 'invalid' | 'denied'; readonly reasons: readonly Reason[] }
  | { readonly kind: 'parked'; readonly approval: string; readonly reasons: readonly Reason[] }
  | { readonly kind: 'failed' | 'cancelled'; readonly failure: Failure; readonly run?: StartedRun };

/** Never throws. `agent` validates, retries and shapes for a model; `relay` does none of these. */
export interface Dispatcher {
  call(c: {
    readonly name: string;
    readonly args: RawJson;
    readonly profile: 'agent' | 'relay';
    readonly conversation: string;
    /** Absent: where arguments came from and what has entered the conversation is unknown. */
    readonly provenance?: Provenance;
    readonly ctx: CallContext;
  }): Promise<Outcome>;
}
