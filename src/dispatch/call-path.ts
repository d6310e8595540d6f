import type {
  Asker,
  AskReply,
  BehindRecord,
  CallContext,
  Decision,
  Dispatcher,
  Found,
  Grant,
  IdempotencyLedger,
  Json,
  Origin,
  Outcome,
  Policy,
  PreviewPlan,
  Recorder,
  Source,
  ToolDefinition,
} from '../contracts/index.ts';
import type { Abortable, CaseCorrection } from '../tools/index.ts';
import type { FixedArguments } from './arguments.ts';
import type { Clock } from './clock.ts';
import type { ResultStore } from './result-store.ts';

export type DispatchRequest = Parameters<Dispatcher['call']>[0];

/** What the dispatcher works with. Times in milliseconds, sizes in characters. */
export interface Path {
  find(name: string): Found | undefined;
  readonly policy: Policy;
  readonly asker: Asker;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly results: ResultStore;
  readonly limits: Limits;
  /** Absent: no tool's calls are recognised as one act. */
  readonly idempotency?: IdempotencyLedger;
  /** Runs the read-only tool that a preview names, on this same path. */
  preview(request: DispatchRequest, plan: ToolPreview): Promise<Outcome>;
}

export interface Limits {
  /** Caps on what a call's context asks for. */
  readonly idleMs?: number;
  readonly hardMs?: number;
  readonly maxResultChars?: number;
  /** How often a call that may be repeated is repeated at most. */
  readonly retries: number;
}

export type ToolPreview = Extract<PreviewPlan, { kind: 'tool' }>;

/** One call under way: what was asked, and what the record will say of it. */
export interface Call {
  readonly request: DispatchRequest;
  readonly ctx: CallContext;
  /** Whether it is still wanted: what `ctx.signal` says, without making that where nobody looks at it. */
  readonly signal: Abortable;
  readonly idleMs: number;
  readonly hardMs: number;
  readonly maxResultChars: number;
  /** Set when this call gives the facts of another one: it is never asked about, and its result isn't shaped. */
  readonly previewFor?: ToolPreview;
  readonly notes: Notes;
}

/** A value that is read when it is needed; each reader gets its own. */
export interface Noted {
  value(): Json;
}

/** Filled in as the call moves on, so that the record is whole wherever the call ends. */
export interface Notes {
  readonly startedAt: number;
  /** Read only where something is recorded. */
  args: Noted;
  /** What was proposed in place of `args`, where these are others. */
  proposed?: Noted;
  behind?: Pick<BehindRecord, 'ref'> & { readonly args: Noted };
  tool?: ToolDefinition;
  facts?: Json;
  origins?: ReadonlyMap<string, Origin>;
  decision?: Decision;
  asked?: AskReply;
  /** The permissions behind the yeses of this call. */
  readonly grants: Grant[];
  /** Those that were taken, or may have been. */
  readonly claims: Grant[];
  attempts: number;
  previews: number;
  /** The first call of the same act, whose end this one is given. */
  answeredBy?: { readonly callId: string; readonly at: number };
  /** True from the moment the source was given the call. */
  handedOver: boolean;
}

/** The call is over; nothing after this runs anything. */
export interface Ended {
  readonly stage: 'ended';
  readonly outcome: Outcome;
}

/** There is such a tool, this caller may see it, and the arguments fit its schema. */
export interface Prepared {
  readonly stage: 'prepared';
  readonly tool: ToolDefinition;
  readonly source: Source;
  readonly args: FixedArguments;
  /** Where the letter case of values was put right: what was proposed, and what of it was changed. */
  readonly proposed?: { readonly args: FixedArguments; readonly corrections: readonly CaseCorrection[] };
}

/** The call may run, with exactly these arguments and facts. */
export interface Permitted {
  readonly stage: 'permitted';
  readonly tool: ToolDefinition;
  readonly source: Source;
  readonly args: FixedArguments;
  readonly facts?: Json;
  readonly decision: Decision;
  readonly asked?: AskReply;
}

/** Nobody ran this act before, as far as is known; `settle` tells the ledger how it ended, and never rejects. */
export interface First {
  readonly stage: 'first';
  settle(outcome: Outcome): Promise<void>;
}

/** The intent is recorded. The only stage from which a source is called. */
export interface Committed {
  readonly stage: 'committed';
  readonly permit: Permitted;
}

/** The source answered, or was given up. */
export interface Ran {
  readonly stage: 'ran';
  readonly tool: ToolDefinition;
  readonly outcome: Outcome;
}

/**
 * What a source gets of a dispatched call beyond the contract: whose it is, and how much of the answer will be shown.
 */
export interface DispatchedContext extends CallContext {
  readonly conversation: string;
  readonly maxResultChars: number;
}
