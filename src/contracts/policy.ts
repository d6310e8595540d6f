import type { Outcome } from './call.ts';
import type { Identity } from './identity.ts';
import type { Json } from './json.ts';
import type { Origin } from './origin.ts';
import type { Reason, ToolDefinition } from './tool.ts';

export interface Decision {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly reasons: readonly Reason[];
  readonly policyVersion: string;
  /** Changed by a hook: to be validated and decided again. */
  readonly input?: Json;
  /** What the decision could be surer with: a dispatcher that can get it does, and asks again before it refuses. */
  readonly needs?: readonly 'facts'[];
}

/** One proposed call, with all that a rule may look at. */
export interface PolicyCall {
  readonly args: Json;
  /** For a view: the arguments that the tool behind it would get. */
  readonly behind?: Json;
  /** What `preview` said. */
  readonly facts?: Json;
  /** What has entered the conversation; with `unknown` among them nobody kept count. */
  readonly labels: ReadonlySet<string>;
  /** Where the arguments came from, by JSON Pointer of each leaf; absent: nobody looked. */
  readonly origins?: ReadonlyMap<string, Origin>;
  /** Unix time in milliseconds; absent: now. */
  readonly at?: number;
  readonly conversation?: string;
  readonly callId?: string;
  /** Aborted when the call is cancelled while it is decided on. */
  readonly signal?: AbortSignal;
}

/** One compiled rule set, two questions. Law (property-tested): view = deny implies decide = deny for all arguments. */
export interface Policy {
  /** Synchronous and pure: no hooks, no arguments. */
  view(who: Identity, tool: ToolDefinition): Decision;
  decide(who: Identity, tool: ToolDefinition, call: PolicyCall): Decision | Promise<Decision>;
}

export interface AskQuestion {
  readonly callId: string;
  readonly who: Identity;
  readonly tool: ToolDefinition;
  readonly args: Json;
  /** For a view: the arguments that the tool behind it would get. */
  readonly behind?: Json;
  readonly facts?: Json;
  /** Why there are no facts although the tool has a preview. */
  readonly factsMissing?: string;
  readonly decision: Decision;
  /** Aborted when the call is cancelled while the question stands. */
  readonly signal: AbortSignal;
}

/**
 * The permission behind an `allow` that was given beforehand, such as a stored approval. It is good for one call: the
 * dispatcher claims it when the intent is on disk and before anything runs.
 */
export interface Grant {
  readonly id: string;
  /** Takes the permission for this call. What isn't `claimed` keeps the call from running; `why` is a sentence. */
  claim(callId: string): Promise<{ readonly claimed: true } | { readonly claimed: false; readonly why: string }>;
  /** The call that was allowed isn't the one that would run now: the permission is good for nothing any more. */
  void(why: string): Promise<void>;
  /** How the call ended that claimed it. Never throws, and never delays the answer. */
  settle(outcome: Outcome): void;
}

export type AskReply =
  | {
      readonly answer: 'allow';
      readonly by: string;
      /** Other arguments than were asked about: validated, and decided on again. */
      readonly args?: Json;
      /** The stored approval that allowed it. */
      readonly approval?: string;
      /** Said not of this call alone, but of the tool: until the session ends, or in this project until it expires. */
      readonly always?: 'session' | 'project';
      readonly grant?: Grant;
    }
  | { readonly answer: 'deny'; readonly by: string; readonly reason?: string; readonly approval?: string }
  | { readonly answer: 'parked'; readonly approval: string; readonly reason?: string };

/** Puts an `ask` to someone who is not the model. Terminal: prompt. Headless: refuse. Gateway: park. */
export interface Asker {
  ask(q: AskQuestion): Promise<AskReply>;
}
