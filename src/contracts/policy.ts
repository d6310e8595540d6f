import type { Identity } from './identity.ts';
import type { Json } from './json.ts';
import type { Reason, ToolDefinition } from './tool.ts';

export interface Decision {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly reasons: readonly Reason[];
  readonly policyVersion: string;
  /** Changed by a hook: to be validated and decided again. */
  readonly input?: Json;
}

/** One compiled rule set, two questions. Law (property-tested): view = deny implies decide = deny for all arguments. */
export interface Policy {
  /** Synchronous and pure: no hooks, no arguments. */
  view(who: Identity, tool: ToolDefinition): Decision;
  decide(
    who: Identity,
    tool: ToolDefinition,
    call: {
      readonly args: Json;
      /** What `preview` said. */
      readonly facts?: Json;
      readonly labels: ReadonlySet<string>;
    },
  ): Decision | Promise<Decision>;
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
