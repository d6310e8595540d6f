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
  /** What `preview` said. */
  readonly facts?: Json;
  /** What has entered the conversation; with `unknown` among them nobody kept count. */
  readonly labels: ReadonlySet<string>;
  /** Where the arguments came from, by JSON Pointer of each leaf; absent: nobody looked. */
  readonly origins?: ReadonlyMap<string, Origin>;
  /** Unix time in milliseconds; absent: now. */
  readonly at?: number;
  readonly conversation?: string;
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
  readonly facts?: Json;
  /** Why there are no facts although the tool has a preview. */
  readonly factsMissing?: string;
  readonly decision: Decision;
  /** Aborted when the call is cancelled while the question stands. */
  readonly signal: AbortSignal;
}

export type AskReply =
  | { readonly answer: 'allow'; readonly by: string; readonly args?: Json }
  | { readonly answer: 'deny'; readonly by: string; readonly reason?: string }
  | { readonly answer: 'parked'; readonly approval: string };

/** Puts an `ask` to someone who is not the model. Terminal: prompt. Headless: refuse. Gateway: park. */
export interface Asker {
  ask(q: AskQuestion): Promise<AskReply>;
}
