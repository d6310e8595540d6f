/** Rule of this file: everything that a shell touches is given to it; it holds nothing of an agent itself. */
import type { CallContext, Dispatcher, Identity, LoopEvent, Model, Outcome, RunResumed } from '../contracts/index.ts';
import type { AfterCall, EndedCall } from './agent-hooks.ts';
import type { RunEvent } from './events.ts';
import type { LoopState, LoopTool } from './state.ts';
import type { OutputCheck } from './structured-output.ts';

export interface ShellOptions {
  /** Before the input. */
  readonly state: LoopState;
  readonly model: Model;
  readonly dispatcher: Dispatcher;
  readonly who: Identity;
  readonly conversation: string;
  /** Longest silence and longest time of a call, ms. */
  readonly idleMs: number;
  readonly hardMs: number;
  /** Longest silence of the model, ms; a wait that it announces starts it anew. */
  readonly modelIdleMs: number;
  /** How long calls that were cancelled may take to come back, ms. */
  readonly graceMs: number;
  /** Answers what a server asks in the middle of a call (elicitation, sampling, roots). */
  readonly input?: CallContext['input'] | undefined;
  /** The journal: every event, in order, before it takes effect. */
  onEvent(event: LoopEvent): void;
  emit(event: RunEvent): void;
  /** What has come since the run began, and wasn't told before; called after every call. */
  news(): News;
  /** Waits, not for long, until what a call changed of the tools is known. Never rejects. */
  settled(): Promise<void>;
  /** What hooks say after a call: notes for the model, and whether the run is to end. Never rejects. */
  after?: ((call: Omit<EndedCall, 'tool' | 'conversation'>, signal: AbortSignal) => Promise<AfterCall>) | undefined;
  /** Checks the answer of a run that has an `output`. Rejects when what it is held to is at fault. */
  check?: OutputCheck | undefined;
  now(): number;
}

/** What a run learns while it goes on. */
export interface News {
  readonly tools: readonly LoopTool[];
  /** Names of those that aren't there any more. One that is there again is among `tools`. */
  readonly gone?: readonly string[];
  /** For the model, of the harness. */
  readonly note: string | null;
}

/** How a run that broke off goes on. */
export interface RunGoesOn {
  /** For the model, of the harness. */
  readonly notes: readonly string[];
  /** That have come since. */
  readonly tools: readonly LoopTool[];
  readonly resumed: RunResumed;
  /** Of the calls that were under way, those that aren't given out again. */
  readonly ended: readonly { readonly callId: string; readonly name: string; readonly outcome: Outcome }[];
}
