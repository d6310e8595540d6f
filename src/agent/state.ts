import type { Effect, Json, Reason } from '../contracts/index.ts';
import type { AnswerTools } from './answer-tools.ts';
import type { ChoicePlan } from './choice-plan.ts';
import type { Container } from './container.ts';
import type { LoopContext } from './context.ts';
import type { RunEnd, RunUsage, TriedCall } from './events.ts';
import type { LoopSearch } from './found-tools.ts';
import type { EffectiveLimits } from './limits.ts';
import type { PendingCall } from './reply.ts';
import type { RequestSize } from './request-size.ts';
import type { Answered } from './run-report.ts';
import type { SiblingRules } from './siblings.ts';
import type { OutputAttempt } from './structured-output.ts';
import { type NoteRole, withNoteRole } from './system-note.ts';
import type { ToldOfTools, ToolChange } from './tool-changes.ts';
import type { MemberOf } from './toolsets.ts';
import { emptyTranscript, type ReadyTranscript, type Transcript } from './transcript.ts';
import { type CostOf, NO_USAGE } from './usage.ts';

/** A tool as the loop sees it: what goes into a request, and whether its calls may run side by side. */
export interface LoopTool {
  readonly name: string;
  /** The Messages API's tool entry. */
  readonly entry: Json;
  readonly effect: Effect;
  /** Whether calls of it may run beside others that may; default: those of a tool that only reads. */
  readonly sideBySide?: boolean;
  /** Its definition isn't before the model until a search has found it, or it is called. */
  readonly deferred?: boolean;
  /** It is a member of a toolset: `entry` is the toolset's, and calls name the pair. */
  readonly toolset?: MemberOf;
}

/** What is fixed for a run. */
export interface LoopConfig {
  readonly system?: Json;
  readonly tools: readonly LoopTool[];
  readonly limits: EffectiveLimits;
  /** Most tokens of a reply, and of the second try when a reply didn't fit. */
  readonly maxTokens: number;
  readonly maxTokensRetry: number;
  /** What the model may choose, turn by turn. */
  readonly choice?: ChoicePlan;
  /** For the developer: what is otherwise than the options wish. */
  readonly notices?: readonly Reason[];
  /** Most calls that run side by side. */
  readonly parallel: number;
  /** What becomes of the other calls of a reply when one goes wrong; absent: nothing. */
  readonly siblings?: SiblingRules;
  /** How deferred tools are searched for; absent: by the provider, or not at all. */
  readonly search?: LoopSearch;
  /** Name of the tool whose call is a question to the user, when there is one. */
  readonly askTool?: string;
  /** Tools whose call is the answer. */
  readonly answer?: AnswerTools;
  /** What the answer is held to: `output_config.format`. It is checked before the run ends. */
  readonly output?: { readonly format: Json };
  readonly costOf?: CostOf;
  /** Of the harness's own messages to the model. Default `user`. */
  readonly noteRole?: NoteRole;
  /** The model is told in system messages which tools come and go. */
  readonly toolChanges?: boolean;
  /** The model's provider runs no code that could call tools. */
  readonly noCode?: boolean;
  /** What requests leave out of a long conversation. */
  readonly context?: LoopContext;
  /** Where code of the provider ran in the run before. */
  readonly container?: Container;
}

/** How the run ended, or will end once its calls have. */
export interface Ending {
  readonly how: RunEnd;
  /** For `limit` its name, for `failed` the error's code, else a word of the same kind. */
  readonly reason: string;
  readonly message: string;
  readonly hint?: string;
}

interface ParkedCall {
  readonly callId: string;
  readonly name: string;
  readonly approval: string;
}

export interface LoopState {
  readonly config: LoopConfig;
  readonly waitingFor: 'input' | 'model' | 'calls' | 'check' | 'nothing';
  readonly transcript: Transcript;
  /** In every request of the run, in the order in which they came. */
  readonly tools: readonly LoopTool[];
  /** Came during the run; they join `tools` with the next request that may change them. */
  readonly addedTools: readonly LoopTool[];
  /** Deferred tools that were called without having been found: their definitions go with every request from then on. */
  readonly loaded: readonly string[];
  /** Those that join them with the next request that may change the tools. */
  readonly loading: readonly string[];
  /** Tools that a search found, where they join the tools of requests with the next one that may change them. */
  readonly found: readonly string[];
  /** Names of tools that went away during the run. */
  readonly gone: readonly string[];
  /** What the next request tells of them, where the model takes that. */
  readonly changes: readonly ToolChange[];
  /** What the messages of the last request that could change the tools tell of them. */
  readonly told: ToldOfTools;
  /** Of the harness, for the model; said with the next request that can hold them. */
  readonly notes: readonly string[];
  /** Unix ms of the input; null before it. */
  readonly startedAt: number | null;
  readonly turns: number;
  readonly calls: number;
  /** Turns of the plan of choices that were answered; a reply that is sent back goes on with its turn. */
  readonly planned: number;
  /** Turns of it, from the first on, of which the model was told what stands in place of a forced call. */
  readonly instructed: number;
  /** Replies in a row that asked to be sent back. */
  readonly pauses: number;
  readonly usage: RunUsage;
  /** The request that a reply is awaited to; null when none is. */
  readonly asked: RequestSize | null;
  /** Replies so far, each with what it cost. */
  readonly answered: readonly Answered[];
  /** The content of a reply that was cut, while it is asked for again. */
  readonly cut: readonly Json[] | null;
  /** Calls of the last reply that haven't begun, in source order. */
  readonly todo: readonly PendingCall[];
  /** Calls that were given out and haven't come back. */
  readonly running: readonly PendingCall[];
  /** How often each call, by name and canonical arguments, has failed without a success between. */
  readonly failures: ReadonlyMap<string, number>;
  /** Keys of `failures` that this reply's calls have counted. */
  readonly failedNow: ReadonlySet<string>;
  readonly tried: readonly TriedCall[];
  readonly left: readonly PendingCall[];
  readonly parked: readonly ParkedCall[];
  /** What the model said last. */
  readonly text: string;
  /** Of the last reply; null before one. */
  readonly stop: { readonly reason: string; readonly details?: Json } | null;
  /** Where the provider runs its code, once it has. */
  readonly container: Container | null;
  /** Answers that were checked. */
  readonly checks: readonly OutputAttempt[];
  readonly question: string | null;
  /** Answers to choose from, that came with the question. */
  readonly options: readonly string[];
  /** Set when the run only waits for its running calls. */
  readonly stopping: Ending | null;
  readonly end: Ending | null;
}

/**
 * A run before its input.
 *
 * @param transcript the conversation so far
 */
export function initialState(config: LoopConfig, transcript: ReadyTranscript = emptyTranscript()): LoopState {
  return {
    config,
    waitingFor: 'input',
    transcript: { ...transcript, messages: withNoteRole(transcript.messages, config.noteRole ?? 'user') },
    tools: config.tools,
    addedTools: [],
    loaded: [],
    loading: [],
    found: [],
    gone: [],
    changes: [],
    told: new Map(),
    notes: [],
    startedAt: null,
    turns: 0,
    calls: 0,
    planned: 0,
    instructed: 0,
    pauses: 0,
    usage: NO_USAGE,
    asked: null,
    answered: [],
    cut: null,
    todo: [],
    running: [],
    failures: new Map(),
    failedNow: new Set(),
    tried: [],
    left: [],
    parked: [],
    text: '',
    stop: null,
    container: config.container ?? null,
    checks: [],
    question: null,
    options: [],
    stopping: null,
    end: null,
  };
}
