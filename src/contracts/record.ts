import type { Outcome, TraceContext } from './call.ts';
import type { Identity } from './identity.ts';
import type { Json } from './json.ts';
import type { LoopEvent } from './loop.ts';
import type { Origin } from './origin.ts';
import type { AskReply, Decision } from './policy.ts';
import type { ToolRef } from './tool.ts';

/** The call of another conversation that started the run which something belongs to. */
export interface ParentCall {
  readonly conversation: string;
  readonly callId: string;
}

export interface IntentRecord {
  readonly callId: string;
  readonly conversation: string;
  /** Of an agent that another one started. */
  readonly parent?: ParentCall;
  readonly who: Identity;
  readonly ref: ToolRef;
  readonly effect: 'read' | 'idempotent' | 'write';
  readonly args: Json;
  /**
   * As they were proposed, where a hook or whoever was asked changed them, or the letter case of enum values was put right:
   * `args` are those that count.
   */
  readonly proposed?: Json;
  /** Of a view's call it covers what is sent on as well. */
  readonly argsDigest: string;
  /** For a call of a view: the tool behind it, and what that one gets. */
  readonly behind?: BehindRecord;
  readonly facts?: Json;
  readonly factsDigest?: string;
  /** Where each argument came from, by JSON Pointer, and what had entered the conversation; absent: not known. */
  readonly origins?: Readonly<Record<string, Origin>>;
  readonly labels?: readonly string[];
  readonly decision: Decision;
  readonly asked?: AskReply;
}

export interface BehindRecord {
  readonly ref: ToolRef;
  readonly args: Json;
}

/** What is written when a call ends, whether it ran or not. Times are milliseconds. */
export interface CallOutcomeRecord {
  readonly callId: string;
  readonly conversation: string;
  /** Of an agent that another one started. */
  readonly parent?: ParentCall;
  readonly who: Identity;
  readonly name: string;
  readonly ref?: ToolRef;
  readonly args: Json;
  /**
   * As they were proposed, where a hook or whoever was asked changed them, or the letter case of enum values was put right:
   * `args` are those that count.
   */
  readonly proposed?: Json;
  readonly behind?: BehindRecord;
  readonly facts?: Json;
  readonly origins?: Readonly<Record<string, Origin>>;
  readonly labels?: readonly string[];
  readonly decision?: Decision;
  readonly asked?: AskReply;
  readonly startedAt: number;
  readonly ms: number;
  readonly attempts: number;
  /** The first call of the same act, whose end this call was given without being run. */
  readonly answeredBy?: { readonly callId: string; readonly at: number };
  readonly outcome: Outcome;
}

/**
 * What a server or a tool asked of the host in the middle of a call, or while a resource or a prompt was read for a person,
 * and what it was told. Addresses are without their queries.
 */
export interface QuestionRecord {
  /** Of the call; of a request for a person its own. */
  readonly callId: string;
  readonly conversation: string;
  /** For whom it was asked; absent in records of earlier versions. */
  readonly who?: Identity;
  /** The server's key; null for a tool of this process. */
  readonly server: string | null;
  readonly tool: string;
  /** What `tool` names, where it isn't a tool: the address of a resource, a prompt. */
  readonly part?: 'resource' | 'prompt';
  /** The MCP request: elicitation, sampling or roots. */
  readonly request: Json;
  /** The result of the request's method. */
  readonly answer?: Json;
  /** Why there is none. */
  readonly error?: string;
  readonly ms: number;
}

/** One run of a hook. `event` and `hook` are its event's name and what people know it by. */
export interface HookRecord {
  readonly conversation: string;
  /** The call that it was about, where it was about one. */
  readonly callId?: string;
  readonly event: string;
  readonly hook: string;
  readonly ms: number;
  /** What it answered; empty: it had no objection. */
  readonly answer?: Json;
  /** Why it gave no answer. */
  readonly failed?: string;
}

/** The tools that somebody was shown. */
export interface ListRecord {
  readonly kind: 'list' | 'search';
  readonly who: Identity;
  /** That of each tool's decision, several with blanks between them; empty where no tool is shown. */
  readonly policyVersion: string;
  readonly catalogVersion: string;
  /** How many. */
  readonly tools: number;
}

/**
 * A tool that the model's provider runs by itself, as a run begins: it is decided on when it is declared, since nothing
 * stands between a model and such a tool later.
 */
export interface DeclarationRecord {
  /** Of the run. */
  readonly conversation: string;
  /** By which the decision knew it; it is the same in each run of an agent. */
  readonly callId: string;
  readonly who: Identity;
  readonly ref: ToolRef;
  readonly effect: 'read' | 'idempotent' | 'write';
  /** The entry of `tools` that it is declared as. */
  readonly args: Json;
  /** The entry as it was given, where a hook or whoever was asked changed it. */
  readonly proposed?: Json;
  readonly decision: Decision;
  readonly asked?: AskReply;
  /** Why it isn't declared; absent: it is. */
  readonly leftOut?: string;
}

/**
 * `intent` resolves when the record is durable if the tool's effect isn't `read`, at once if it is; `outcome` never
 * delays the answer and never throws.
 */
export interface Recorder {
  intent(r: IntentRecord): Promise<void>;
  outcome(r: CallOutcomeRecord): void;
  /** The call's span, told to the server that gets the call. Asked before each attempt; what it throws is dropped. */
  trace?(call: Pick<CallOutcomeRecord, 'callId' | 'conversation' | 'name' | 'startedAt'>): TraceContext | undefined;
  /** Never delays the answer and never throws. */
  question?(r: QuestionRecord): void;
  /** Never delays anything and never throws. */
  hook?(r: HookRecord): void;
  /** Told as often as somebody is shown their tools, the same ones too. Never delays anything and never throws. */
  listed?(r: ListRecord): void;
  /** Told of each such tool as a run begins, and again when the rules for it have changed. Never delays anything and never throws. */
  declared?(r: DeclarationRecord): void;
  /** A run of an agent's loop begins; whoever wants to know of it gives what follows it. What it throws is dropped. */
  run?(r: RunRecord): RunFollower | undefined;
}

/** Who runs, and with which model. `at` is Unix time in milliseconds. */
export interface RunRecord {
  readonly conversation: string;
  /** Of an agent that another one started. */
  readonly parent?: ParentCall;
  readonly who: Identity;
  /** As in `Model.id`. */
  readonly model: string;
  readonly at: number;
}

/** Is told everything of one run, in order, before it takes effect. Delays nothing, and what it throws is dropped. */
export interface RunFollower {
  event(e: LoopEvent): void;
  /** The run is over. `how` and `detail` as a trace has them. */
  end(how: string, detail: Json): void;
}

/** The line of a trace that tells one call, start to finish. */
export interface CallRecord {
  readonly v: 1;
  readonly at: number;
  readonly type: 'call';
  readonly call: CallOutcomeRecord;
}

/** One line of a trace file (JSON Lines): the run's header, a loop event, an intent, or a finished call. */
export type TraceEvent =
  | {
      readonly v: 1;
      readonly at: number;
      readonly type: 'run';
      readonly run: string;
      readonly agent: string;
      readonly model: string;
      readonly task: string;
      /** The folder in which it works. */
      readonly project?: string;
      /** The run that it was forked from, and after how many of its events. */
      readonly forked?: { readonly run: string; readonly event: number };
      readonly bridle: string;
    }
  | { readonly v: 1; readonly at: number; readonly type: 'decided'; readonly intent: IntentRecord }
  | { readonly v: 1; readonly at: number; readonly type: 'end'; readonly how: string; readonly detail: Json }
  | { readonly v: 1; readonly at: number; readonly type: 'question'; readonly question: QuestionRecord }
  | { readonly v: 1; readonly at: number; readonly type: 'hook'; readonly hook: HookRecord }
  | CallRecord
  | LoopEvent;
