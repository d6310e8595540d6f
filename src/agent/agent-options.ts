import type { CatalogHandle, CatalogOptions, ReadyOptions } from '../catalog/index.ts';
import type {
  Asker,
  CallContext,
  IdempotencyLedger,
  Identity,
  Json,
  LoopEvent,
  Model,
  Policy,
  Reason,
  Recorder,
  Source,
  ToolDefinition,
} from '../contracts/index.ts';
import type { DispatcherOptions } from '../dispatch/index.ts';
import type { Hook, HookSet, Mode, Permissions } from '../policy/index.ts';
import type { functionSource, StrictChoice, StrictMode } from '../tools/index.ts';
import type { AnswerTools } from './answer-tools.ts';
import type { Container } from './container.ts';
import type { ContextOptions } from './context.ts';
import type { ToolChoicePlan, TurnToolChoice } from './choice-plan.ts';
import type { RunEvent } from './events.ts';
import type { RunLimits } from './limits.ts';
import type { ParallelWish } from './parallel-wish.ts';
import type { ProviderTool } from './provider-tools.ts';
import type { ResumableJournal, ResumeOptions } from './resume/resume-options.ts';
import type { Run } from './run.ts';
import type { SiblingAct, SiblingRules } from './siblings.ts';
import type { OutputOptions } from './structured-output.ts';
import type { Subagent, SubagentTrace } from './subagents/subagent.ts';
import type { NoteRole } from './system-note.ts';
import type { ToolSearch } from './tool-search.ts';

/** Where a run is written down as it happens: a `Trace` is one. */
export interface RunJournal extends Recorder {
  event(event: LoopEvent): void;
  end(how: string, detail: Json): void;
}

export interface AgentOptions {
  /** Who calls, as rules and records name it. Default `agent`. */
  readonly name?: string;
  /** A model, or its name: `offline`, `claude-…`, `openai:ID@URL`; see `resolveModel`. */
  readonly model: Model | string;
  /** Tools of this process. Listed before those of `sources`. */
  readonly tools?: Parameters<typeof functionSource>[0];
  /** Where more tools come from, such as MCP connections. They are the caller's: the agent doesn't close them. */
  readonly sources?: readonly Source[];
  /** Who may call what. Give either this or `permissions` and `mode`. */
  readonly policy?: Policy;
  /**
   * Rules by tool name, e.g. `{allow: ['get_order'], ask: ['refund']}`. A tool that no rule names is asked about, and
   * without an `asker` that means refused.
   */
  readonly permissions?: Permissions;
  readonly mode?: Mode;
  /**
   * Functions that are told of calls, prompts, sessions and servers' questions before or after them, under the events and
   * with the fields of Claude Code's hooks. They can only tighten what the rules say.
   */
  readonly hooks?: readonly Hook[] | HookSet;
  /**
   * Tools that the model's provider runs by itself, as the Messages API has them. Decided when the agent is made, by their
   * names: nothing stands between them and the model later.
   */
  readonly providerTools?: readonly ProviderTool[];
  /** Agents that this one may start, each by calling `start_NAME`. Their own calls are decided as this one's are. */
  readonly subagents?: readonly Subagent[];
  /** Where the run of one of them is written down. Default: its calls are recorded, and its run is not. */
  readonly subagentTrace?: SubagentTrace;
  /** Narrower tools in place of some; see `view`. */
  readonly views?: CatalogOptions['views'];
  /** Who is asked when a call needs someone's word. Default: nobody; the call is refused, with how to allow it. */
  readonly asker?: Asker;
  /** Gets each call's intent and outcome. Default: nothing is recorded. */
  readonly recorder?: Recorder;
  /**
   * Remembers the acts of tools that declare an idempotency key, so that an act that ran isn't run again. Default: in
   * memory, for as long as the agent lives; `idempotencyLedger(store)` keeps it.
   */
  readonly idempotency?: IdempotencyLedger;
  /** Gets the same and every event of the loop, of all runs; a run's own `trace` takes its place. */
  readonly trace?: RunJournal;
  /** The system prompt. */
  readonly system?: string;
  /**
   * What stands after `system`, looked up at the start of each run: what trusted servers say of their tools, say. None of
   * its words counts as the user's or the agent's own.
   */
  readonly sourceNotes?: () => string;
  /**
   * What the system prompt says, after `system`, of content from tools and documents. Default
   * `UNTRUSTED_CONTENT_NOTICE`; `false` says nothing.
   */
  readonly untrustedContentNotice?: string | false;
  /**
   * Role of the messages in which the harness itself tells the model something: tools that have come, a run that was
   * stopped, what hooks say. Default: `system` for models that are known to take one in the middle of a conversation, else
   * `user`. For a model behind a proxy that refuses them: `user`.
   */
  readonly noteRole?: NoteRole;
  /** For whom the agent works, as rules and records name it. Never taken from the model. */
  readonly user?: string;
  readonly scopes?: readonly string[];
  /** Default `library`. */
  readonly via?: Identity['via'];
  readonly limits?: RunLimits;
  /** Limits of a single call; times in milliseconds, sizes in characters. */
  readonly callLimits?: NonNullable<DispatcherOptions['limits']>;
  /**
   * Answers what a server asks in the middle of a call: elicitation, sampling, roots (MCP requests as received).
   * Default: nobody does.
   */
  readonly input?: CallContext['input'];
  /**
   * Most calls that run side by side: those of tools that only read, or that say `sideBySide`. Any other call runs alone,
   * in the order in which the model wrote them. Default 8.
   */
  readonly parallel?: number;
  /**
   * What becomes of the other calls of a reply when one is denied, fails or runs out of time: `go_on`, `skip` or `cancel`
   * for all three, or one each, e.g. `{failed: 'skip', timedOut: 'cancel'}`. Default `go_on`.
   */
  readonly siblings?: SiblingAct | Partial<SiblingRules>;
  /** Most tokens of a reply. Default 8,192, or less where the model has less. */
  readonly maxTokens?: number;
  /** Most tokens of the second try when a reply was cut. Default four times `maxTokens`. */
  readonly maxTokensRetry?: number;
  /** How a long conversation is kept short for the model. Default: all of it is sent. */
  readonly context?: ContextOptions;
  /**
   * Holds the answer of each run to a schema and to a check of yours; the result has it as `output`. Tools may be called
   * on the way.
   */
  readonly output?: OutputOptions;
  /** Tools whose call is the answer and ends the run. */
  readonly answer?: AnswerTools;
  /**
   * What the model may choose. One choice holds on every turn, so it can't force a call; a plan does it for the first
   * turns: `{first: {type: 'tool', name: 'get_order'}}`. A model that takes no forced call is asked for it in words.
   */
  readonly toolChoice?: TurnToolChoice | ToolChoicePlan;
  /**
   * Tools that are deferred: their definitions are before the model only once a search has found them. Default `client`:
   * those that are marked `deferLoading`, which the agent offers a tool to search for.
   */
  readonly toolSearch?: ToolSearch;
  /**
   * Which tools are strict, within what the Messages API takes in one request: `asked`, those whose authors ask for it;
   * `auto`, as many as there is room for; `off`, none. Default `asked`. A run's notices tell what was left out, and why.
   */
  readonly strict?: StrictMode;
  /** How many calls a reply had better have: words in the system prompt, or `off`. Default: nothing is said. */
  readonly parallelWish?: ParallelWish;
  /** Offers the model a tool `ask_user`, so that a question ends a run as `asked`. Default false. */
  readonly askUser?: boolean;
  /**
   * How long the agent waits for its `sources` before it is there: at most `ms` milliseconds, and until `enough` aborts.
   * The tools of one that takes longer come to the end of the list as soon as they are there, and the model is told what
   * is missing and what has come. Default: every source is waited for.
   */
  readonly ready?: Omit<ReadyOptions, 'signal'>;
  /** Gives up the first listing of `sources`, such as a server that hangs at its start. It has no say in later runs. */
  readonly signal?: AbortSignal;
  /** Longest silence of the model in milliseconds. Default 10 minutes. */
  readonly modelIdleMs?: number;
  /** How long cancelled calls may take to come back before an aborted run ends without them, ms. Default 5,000. */
  readonly graceMs?: number;
  /** Called with each event of each run, as it happens. What it throws is dropped. */
  readonly onProgress?: (event: RunEvent) => void;
}

export interface RunOptions {
  /** Aborts the run. */
  readonly signal?: AbortSignal;
  /** What is said before the input: the `messages` of an earlier result. */
  readonly messages?: readonly Json[];
  /** Names the conversation in records; give the earlier result's to go on with it. Default: a new one. */
  readonly conversation?: string;
  /** Where the provider ran code in an earlier run: the `container` of its result. */
  readonly container?: Container;
  /** Where this run is written down, in place of the agent's `trace`. */
  readonly trace?: RunJournal;
  /** As the agent's, for this run. */
  readonly output?: OutputOptions;
  readonly toolChoice?: TurnToolChoice | ToolChoicePlan;
  readonly limits?: RunLimits;
  /** Called with each event of this run, after the agent's own. */
  readonly onProgress?: (event: RunEvent) => void;
}

/** Several runs, one after another, each going on from the last. */
export interface Conversation {
  readonly id: string;
  /** What has been said; grows with each run that has ended. */
  readonly messages: readonly Json[];
  /** @throws BridleError `conversation_busy` while the run before goes on */
  run(input: string | Json[], options?: Omit<RunOptions, 'messages' | 'conversation' | 'container'>): Run;
}

export interface Agent {
  readonly name: string;
  readonly model: Model;
  readonly catalog: CatalogHandle;
  /**
   * Starts a run. Whatever goes wrong is the run's end, so this never throws.
   *
   * @param input what the user says: text, or Messages API content blocks. May be empty (`[]`) to let a run that was
   *   stopped go on from `messages`.
   */
  run(input: string | Json[], options?: RunOptions): Run;
  /**
   * Goes on with the run that a journal breaks off in, as after the end of its process: nothing that is known to have
   * ended is made again, and of a call that may have taken effect `unsure` is asked. The model, the tools and the rules
   * are this agent's; limits are those that the run was begun with.
   *
   * @param journal of the run, which goes on in it: what `openTrace` gives
   * @returns the run; when it can't go on, one that ends as `failed` with `run_ended`, `run_not_begun`,
   *   `run_other_model`, `journal_damaged`, `messages_invalid` or `trace_newer`, and nothing is written
   */
  resume(journal: ResumableJournal, options?: ResumeOptions): Run;
  conversation(options?: { readonly id?: string; readonly messages?: readonly Json[] }): Conversation;
  /**
   * Ends the session of a conversation for its hooks (`SessionEnd`); the conversation itself may go on, in a new session.
   * `close` does it for all (`other`), unless the agent was given a `HookSet`, which may serve others.
   *
   * @param reason in Claude Code's words: forgotten, left for another one, left at the prompt, anything else
   */
  endSession(conversation: string, reason: 'clear' | 'resume' | 'prompt_input_exit' | 'other'): Promise<void>;
  /** The tools that this agent may see. */
  tools(): readonly ToolDefinition[];
  /** Which of them a run would begin with as strict ones, by what steps, and why the others aren't. */
  strictTools(): readonly StrictChoice[];
  /** What is odd about how the agent was set up, such as one of its `subagents` that has no tools, or one of its `providerTools` that was left out. */
  warnings(): readonly Reason[];
  /** Aborts the runs under way and waits for them. Sources and models stay open: they are the caller's. */
  close(): Promise<void>;
}
