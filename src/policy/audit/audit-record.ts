import type {
  Decision,
  Executed,
  Identity,
  Json,
  Origin,
  Outcome,
  ParentCall,
  ToolRef,
} from '../../contracts/index.ts';

/**
 * Who asked whom about a call, and what was said. Changed arguments as the call's own, redacted. `approval` is the stored
 * one that answered, where one did; `always` tells a yes that was said not of this call alone.
 */
export type AuditedAnswer =
  | {
      readonly answer: 'allow';
      readonly by: string;
      readonly args?: Json;
      readonly argsDigest?: string;
      readonly approval?: string;
      readonly always?: 'session' | 'project';
    }
  | { readonly answer: 'deny'; readonly by: string; readonly reason?: string; readonly approval?: string }
  | { readonly answer: 'parked'; readonly approval: string };

/** A call, as far as it is known when the record is made. */
export interface AuditedCall {
  readonly id: string;
  readonly conversation: string;
  /** Of an agent that another one started: the call that did. */
  readonly parent?: ParentCall;
  readonly who: Identity;
  /** The wire name that was called. */
  readonly name: string;
  readonly ref?: ToolRef;
  readonly effect?: 'read' | 'idempotent' | 'write';
  /** Keyed digest of the whole arguments: equal arguments have equal digests, in this installation only. */
  readonly argsDigest: string;
  /** The arguments without what is redacted; absent when they are too long, or not to be kept. */
  readonly args?: Json;
  /** The arguments as they were proposed, where a hook, whoever was asked, or the letter case of enum values changed them. */
  readonly proposed?: { readonly argsDigest: string; readonly args?: Json };
  /** For a view: the tool behind it, and what that one gets. */
  readonly behind?: { readonly ref: ToolRef; readonly argsDigest: string; readonly args?: Json };
  readonly factsDigest?: string;
  readonly facts?: Json;
  readonly origins?: Readonly<Record<string, Origin>>;
  readonly labels?: readonly string[];
  readonly decision?: Decision;
  readonly asked?: AuditedAnswer;
}

/** How a call ended. Results are not kept: the trace has them. Times are Unix milliseconds and milliseconds. */
export interface AuditedEnd {
  readonly outcome: Outcome['kind'];
  /** The tool's own word that it failed. */
  readonly isError?: boolean;
  /** Of calls that failed or were cancelled: what is known of their effect. */
  readonly executed?: Executed;
  readonly category?: string;
  /** The codes of the reasons for which it did not run. */
  readonly reasons?: readonly string[];
  readonly startedAt: number;
  readonly ms: number;
  readonly attempts: number;
  /** The first call of the same act, whose end this one was given without being run; `at` is when that one was made. */
  readonly answeredBy?: { readonly callId: string; readonly at: number };
}

/** What a server asked of the host, and what it was told. Redacted and bounded as arguments are. */
export interface AuditedQuestion {
  /** Of the call in the middle of which it was asked; of a request for a person its own. */
  readonly id: string;
  readonly conversation: string;
  readonly who?: Identity;
  /** Null: a tool of this process. */
  readonly server: string | null;
  /** The tool that was called; or the resource or prompt, as `part` says. */
  readonly tool: string;
  readonly part?: 'resource' | 'prompt';
  /** Of the MCP request, such as `elicitation/create`. */
  readonly method: string;
  readonly requestDigest: string;
  readonly request?: Json;
  /** What an elicitation was answered with: `accept`, `decline` or `cancel`. */
  readonly action?: string;
  readonly answerDigest?: string;
  readonly answer?: Json;
  /** Why there is no answer. */
  readonly error?: string;
  readonly ms: number;
}

/** What one record tells. */
export type AuditEntry =
  /** A writer begins: which program, where. */
  | { readonly type: 'opened'; readonly by: string; readonly host: string; readonly pid: number }
  /** A call that may change something is about to run. On disk before it does. */
  | { readonly type: 'intent'; readonly call: AuditedCall }
  /** How a call ended whose intent is record `intent` of this writer. */
  | { readonly type: 'end'; readonly id: string; readonly intent: number; readonly end: AuditedEnd }
  /** A whole call that has no intent: it reads, or it did not run. */
  | { readonly type: 'call'; readonly call: AuditedCall; readonly end: AuditedEnd }
  /** The tools that somebody was shown: one record for each identity, policy and catalog. */
  | {
      readonly type: 'list' | 'search';
      readonly who: Identity;
      readonly policyVersion: string;
      readonly catalogVersion: string;
      readonly tools: number;
    }
  /** What a server asked in the middle of a call, or while a resource or a prompt was read for a person. */
  | { readonly type: 'question'; readonly question: AuditedQuestion }
  /** A tool use that the model's provider ran itself; nothing here decided over it. */
  | {
      readonly type: 'provider';
      readonly who: Identity;
      readonly id: string;
      readonly name: string;
      readonly server?: string;
      readonly argsDigest: string;
    }
  /** A tool that the model's provider runs, as a run begins: with the decision on its declaration. */
  | {
      readonly type: 'declaration';
      /** Its `args` are the entry that was declared. */
      readonly call: AuditedCall;
      /** Why it wasn't declared; absent: it was. */
      readonly leftOut?: string;
    }
  /** Records that could not be written: of reads, or of how calls ended. */
  | { readonly type: 'lost'; readonly records: number }
  /** The writer ended in order. */
  | { readonly type: 'closed' };

/** Where a record stands in the chain of its writer. */
export interface AuditLink {
  readonly v: 1;
  readonly writer: string;
  /** Counted from 1. */
  readonly seq: number;
  /** Unix milliseconds. */
  readonly at: number;
  /** The `hash` of the record before; of the first one 64 zeros. */
  readonly prev: string;
  /** SHA-256, in hex, of the canonical JSON (RFC 8785) of everything else in this record. */
  readonly hash: string;
}

export type AuditRecord = AuditLink & AuditEntry;

/** The last record of a writer, told to somebody who keeps it elsewhere. */
export interface AuditHead {
  readonly writer: string;
  readonly seq: number;
  readonly hash: string;
  readonly at: number;
}
