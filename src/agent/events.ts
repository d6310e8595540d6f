import type { CallOrigin, Decision, Failure, Json, Outcome, RawJson, Reason } from '../contracts/index.ts';
import type { AnswerIssue } from './answer-check.ts';
import type { Container } from './container.ts';
import type { RunReport } from './run-report.ts';
import type { RunOutput } from './structured-output.ts';

/**
 * How a run can end.
 *
 * - `answered`: the model ended its turn with an answer.
 * - `asked`: the model put a question to the user; answer it with the next run of the same conversation.
 * - `refused`: the model declined (`stop_reason: refusal`).
 * - `truncated`: the reply didn't fit, even with a higher limit, or the context window is full.
 * - `limit`: a limit of the run was reached; `handoff` says what was tried and what is pending.
 * - `aborted`: the caller stopped it.
 * - `failed`: the model couldn't be reached, or its reply made no sense; `error` says which.
 */
export type RunEnd = 'answered' | 'asked' | 'refused' | 'truncated' | 'limit' | 'aborted' | 'failed';

/** Tokens and price over all replies of a run, retried ones included. */
export interface RunUsage {
  /** Input tokens, those read from and written to the cache included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; absent when the model's price isn't known. */
  readonly costUsd?: number;
}

/** One call of a run, as a hand-off tells it. */
export interface TriedCall {
  readonly callId: string;
  readonly name: string;
  readonly args: Json;
  /** `error` is a result that the tool itself marked as one; the rest are the outcome's own kinds. */
  readonly outcome: Outcome['kind'] | 'error' | 'not_run';
  /** What went wrong, when something did. */
  readonly detail?: string;
  /** Of which kind it was: of one that is `permission`, somebody who may decide has to hear. */
  readonly category?: Failure['category'];
  /** What it had until it failed, where its tool says so. */
  readonly partial?: Json;
}

/** What whoever takes over needs: a person, another agent, or the same one later. */
export interface Handoff {
  /** The limit that was reached, or `aborted`, `failed`, `truncated`; `permission` when the model ended its turn itself. */
  readonly reason: string;
  readonly message: string;
  /** Calls that were made, in order, with how they ended. */
  readonly tried: readonly TriedCall[];
  /**
   * What there is of results: the `tool_result` content of calls that went well, and of one that failed what it had until
   * then.
   */
  readonly partialResults: readonly { readonly callId: string; readonly name: string; readonly content: Json }[];
  /** Calls that the model wants and that haven't run, and approvals that nobody has given yet. */
  readonly pending: readonly (
    | { readonly kind: 'call'; readonly callId: string; readonly name: string; readonly args: Json }
    | { readonly kind: 'approval'; readonly callId: string; readonly name: string; readonly approval: string }
  )[];
  /** What the model said last. */
  readonly text: string;
}

export interface RunResult {
  readonly end: RunEnd;
  /** What the model said last, or its question when `end` is `asked`. */
  readonly text: string;
  /** When `end` is `asked`: answers to choose from, where the model gave some. */
  readonly options?: readonly string[];
  /** The `stop_reason` of the last reply, as the model gave it; absent when there was none. */
  readonly stopReason?: string;
  /** The `stop_details` of that reply, if any: for a refusal, its category and explanation. */
  readonly stopDetails?: Json;
  /**
   * Messages API messages of the whole conversation. Always valid: another run can go on from them. They may refer to the
   * tools of the run, and tell of changes of them.
   */
  readonly messages: Json[];
  readonly usage: RunUsage;
  /** What each reply cost and why; absent when there was none. Replies of agents that it started are not in it. */
  readonly report?: RunReport;
  /** Model replies. */
  readonly turns: number;
  /** Calls given to the dispatcher, whatever came of them. */
  readonly calls: number;
  readonly conversation: string;
  /** Calls that wait for somebody's approval and have not run; absent when there are none. */
  readonly parked?: readonly { readonly callId: string; readonly name: string; readonly approval: string }[];
  /** Where the provider ran code, if it did: give it to the next run to find files and variables there again. */
  readonly container?: Container;
  /** Of a run with `output`: what its answer came to. */
  readonly output?: RunOutput;
  /** What was otherwise than the options wish, such as a call that this model can't be forced to; absent when nothing was. */
  readonly notices?: readonly Reason[];
  /**
   * When `end` is `limit`; when the run ended otherwise before it was finished, and calls were made or wanted; and when
   * calls were not allowed or wait for an approval, whatever the end.
   */
  readonly handoff?: Handoff;
  /** When `end` is `failed`. `hint` says what to do next. */
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
}

/**
 * What a run tells while it goes on. The last event is always `end`.
 *
 * `text`, `thinking` and `arguments` are pieces of the reply that is coming, for whoever watches; `message` is that reply
 * whole. Only then, and only if it is sound, is anything of it run.
 */
export type RunEvent =
  /** A piece of the model's text, as it arrives. */
  | { readonly type: 'text'; readonly text: string }
  /** A piece of what the model thinks, where it shows that. */
  | { readonly type: 'thinking'; readonly text: string }
  /**
   * A piece of the arguments of a call, as the model writes them: JSON text that is whole only with the reply, and may
   * turn out to be none. The first piece of a call is empty and comes as soon as the call has a name. `index`: the place
   * of its block in the reply. A model that doesn't stream gives all in one piece.
   */
  | {
      readonly type: 'arguments';
      readonly index: number;
      readonly name: string;
      readonly piece: string;
      /** The provider-defined toolset whose member is called. */
      readonly toolset?: string;
    }
  /** A whole reply, as the model gave it. */
  | { readonly type: 'message'; readonly message: Json; readonly stopReason: string }
  /**
   * The model is being waited for (429, 529, a lost connection): for how many milliseconds and why. Then the reply begins
   * anew: pieces since the last `message` are void.
   */
  | { readonly type: 'wait'; readonly ms: number; readonly reason: string }
  /** For the developer, at the start: a wish of the options that this model or these tools don't allow as it stands. */
  | { readonly type: 'notice'; readonly notice: Reason }
  /** A hook has something to say to whoever watches, or failed. */
  | { readonly type: 'hook'; readonly text: string }
  /** A deferred tool was called without having been searched for; its definition goes with every request from here on. */
  | { readonly type: 'loaded'; readonly name: string }
  /** A call is on its way to the dispatcher. */
  | ({ readonly type: 'call'; readonly callId: string; readonly name: string; readonly args: Json } & CallOrigin)
  /** A call needs someone's word before it runs. */
  | {
      readonly type: 'asked';
      readonly callId: string;
      readonly name: string;
      readonly args: Json;
      readonly facts?: Json;
      readonly factsMissing?: string;
      readonly decision: Decision;
    }
  | {
      readonly type: 'decision';
      readonly callId: string;
      readonly name: string;
      readonly answer: 'allow' | 'deny' | 'parked';
      readonly by?: string;
      readonly reason?: string;
    }
  | { readonly type: 'progress'; readonly callId: string; readonly kind: 'progress' | 'log'; readonly raw: RawJson }
  | {
      readonly type: 'outcome';
      readonly callId: string;
      readonly name: string;
      readonly outcome: Outcome;
      readonly ms: number;
    }
  /** The model's provider ran a tool by itself; its result stands in the same reply. `server`: of its own MCP connector. */
  | {
      readonly type: 'provider_call';
      readonly id: string;
      readonly name: string;
      readonly server?: string;
      readonly input: Json;
    }
  /** Of an agent that the call started: its events, all but the pieces of its replies. */
  | {
      readonly type: 'subagent';
      readonly callId: string;
      readonly agent: string;
      readonly conversation: string;
      readonly event: RunEvent;
    }
  /** A limit was met. `retrying`: the reply was cut at `max_tokens`, its pieces are void, and it is asked for once more. */
  | { readonly type: 'limit'; readonly limit: string; readonly message: string; readonly retrying?: boolean }
  /** The answer of a run with `output` was checked. `retrying`: the model is told what is wrong, and asked again. */
  | { readonly type: 'checked'; readonly issues: readonly AnswerIssue[]; readonly retrying: boolean }
  /** This reader was so slow that this many events were let go. */
  | { readonly type: 'skipped'; readonly count: number }
  | { readonly type: 'end'; readonly result: RunResult };
