import type { Outcome } from './call.ts';
import type { Json, RawJson } from './json.ts';

export interface ModelReply {
  /** A Messages API response message: `{id, role: 'assistant', content, stop_reason, usage, …}`. */
  readonly message: Json;
  readonly stopReason: string;
  readonly usage: Json;
}

/** Messages API shape for every model, offline included; unknown blocks are kept. */
export interface Model {
  readonly id: string;
  /** Why no `tool_choice` of it can force a call, as in "it thinks by hand"; absent: by what is known of the id. */
  readonly cannotForce?: string;
  /**
   * @param request a Messages API request body without `model` and `stream`
   * @param ctx `onDelta` gets Messages API stream events as they arrive; `onWait` is told why a retry waits
   */
  respond(
    request: Json,
    ctx: {
      readonly signal: AbortSignal;
      onDelta?(event: Json): void;
      onWait?(wait: { readonly ms: number; readonly reason: string }): void;
    },
  ): Promise<ModelReply>;
}

/** What else a `tool_use` block says of its call, as it says it. */
export interface CallOrigin {
  /** `toolset_name`: the provider-defined toolset whose member is called. */
  readonly toolset?: string;
  /** `caller`: absent or `{type: 'direct'}` for the model itself, else the provider's container that runs its code. */
  readonly caller?: Json;
}

/** A run begins: what it is resumed from besides its events. */
export interface RunBegun {
  readonly type: 'begin';
  readonly conversation: string;
  /** As in `Model.id`. */
  readonly model: string;
  /** What is fixed for the run, as far as that is JSON: limits, names and digests of tools, a digest of the system prompt. */
  readonly config: Json;
  /** The messages before its input; absent: those that the run before it in the same journal ended with. */
  readonly before?: Json;
}

/** A run that broke off goes on. */
export interface RunResumed {
  readonly type: 'resume';
  /** How long nothing happened, in milliseconds: it doesn't count as time of the run. */
  readonly idleMs: number;
  /** Calls that were under way and are given out once more, by id; of the others that were, the outcome follows. */
  readonly again: readonly string[];
  /** Limits that hold from here on, in place of the run's own. */
  readonly limits?: Json;
}

/** The event log is the journal, the run record, the cassette's spine and what diagnosis reads. `at`: Unix ms. */
export type LoopEvent = {
  readonly v: 1;
  readonly at: number;
} /** `note`: what the harness itself has to say with it. */ & (
  | RunBegun
  | RunResumed
  | { readonly type: 'input'; readonly content: Json; readonly note?: string }
  | { readonly type: 'model'; readonly message: Json; readonly stopReason: string; readonly usage: Json }
  | ({ readonly type: 'intent'; readonly callId: string; readonly name: string; readonly args: Json } & CallOrigin)
  | { readonly type: 'outcome'; readonly callId: string; readonly outcome: Outcome }
  /**
   * The answer that ends the turn was checked. `issues`: what is wrong with it, a list; `again`: what the model is told
   * when it is asked once more; `failed`: nobody asks any more. With neither, the answer stands.
   */
  | {
      readonly type: 'checked';
      readonly issues: Json;
      readonly again?: string;
      readonly failed?: { readonly code: string; readonly message: string; readonly hint?: string };
    }
  | { readonly type: 'limit' | 'abort' | 'edit'; readonly detail: Json }
);

export type LoopEffect =
  | { readonly type: 'model'; readonly request: Json }
  | ({ readonly type: 'call'; readonly callId: string; readonly name: string; readonly args: RawJson } & CallOrigin)
  /** A call under way is to stop; its outcome still comes. */
  | { readonly type: 'cancel'; readonly callId: string; readonly reason: string }
  /** Check an answer before the run ends. `attempt`: from 1. */
  | { readonly type: 'check'; readonly text: string; readonly attempt: number }
  | { readonly type: 'end'; readonly how: string };

/** The loop is a fold. */
export type Step<State> = (
  state: State,
  event: LoopEvent,
) => { readonly state: State; readonly effects: readonly LoopEffect[] };
