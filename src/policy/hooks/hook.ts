import type { Json, JsonObject, Reason } from '../../contracts/index.ts';

/**
 * The events, under the names and with the fields that people know from Claude Code's hooks.
 *
 * | event            | when                                          | what an answer may do                                       |
 * |------------------|-----------------------------------------------|-------------------------------------------------------------|
 * | PreToolUse       | before each call is decided                   | deny, ask, allow what no rule names, change input, end the run, add context |
 * | PostToolUse      | after a call that ran                         | add context, end the run                                    |
 * | UserPromptSubmit | before what a person said goes to the model   | block it, add context                                       |
 * | SessionStart     | when a session begins, goes on or is cleared  | add context, keep it from beginning (`stop`)                |
 * | SessionEnd       | when a session ends                           | nothing                                                     |
 * | Elicitation      | before a server's question reaches the person | answer or decline it                                        |
 */
export const HOOK_EVENTS = [
  'PreToolUse',
  'PostToolUse',
  'UserPromptSubmit',
  'SessionStart',
  'SessionEnd',
  'Elicitation',
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** Events whose hooks stand in the way of something: one that fails there keeps it from happening. */
export const GATES: ReadonlySet<HookEvent> = new Set<HookEvent>(['PreToolUse', 'UserPromptSubmit', 'Elicitation']);

/** What a hook is given: `hook_event_name`, `session_id`, `cwd`, `permission_mode` and the fields of its event. */
export type HookInput = JsonObject;

/** What a hook says, whatever way it said it. Nothing said: it has no objection. */
export interface HookAnswer {
  readonly permission?: 'allow' | 'ask' | 'deny';
  /** Why; shown to the model where a call is denied, to the person where a prompt is blocked. */
  readonly reason?: string;
  /** Other arguments of the call: validated, and decided on again. */
  readonly updatedInput?: JsonObject;
  /** For the model, as a note of the harness: never as if a tool or the person had said it. */
  readonly context?: string;
  /** For the person who watches. */
  readonly message?: string;
  /** The run is to end, and why. */
  readonly stop?: string;
  readonly elicitation?: { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: Json };
}

export interface Hook {
  readonly event: HookEvent;
  /**
   * Which of the event's subjects it is for: tool names (`a|b`, or a regular expression), the source of a session's
   * start, the reason of its end, a server's key. Empty, `*` or absent: all.
   */
  readonly matcher?: string;
  /** What people know it by: its command, or a name. */
  readonly name: string;
  /** Two hooks with the same key are one, and run once. */
  readonly key?: string;
  readonly source?: Reason['source'];
  /** Longest run, in milliseconds. Default 60,000. */
  readonly timeoutMs?: number;
  /** Answers, or rejects; at `signal` it is to stop. */
  run(input: HookInput, signal: AbortSignal): Promise<HookAnswer | undefined> | HookAnswer | undefined;
}
