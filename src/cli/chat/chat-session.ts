import { randomUUID } from 'node:crypto';
import {
  type Agent,
  type AgentOptions,
  createAgent,
  type RunOptions,
  type RunResult,
  replay,
} from '../../agent/index.ts';
import type { Json, Model, QuestionRecord, Recorder, TraceEvent } from '../../contracts/index.ts';
import { allRecorders, createTrace, readTrace, type Trace } from '../../dispatch/index.ts';
import type { ComposedInput } from '../../host/index.ts';
import { runId } from '../run.ts';
import { toolSearchFor } from '../tool-search-option.ts';
import { portable } from './portable.ts';
import { projectNote, type SessionSummary } from './sessions.ts';

/** What a session has taken so far, what was resumed included. */
export interface SessionTotals {
  readonly turns: number;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; undefined once the price of a part isn't known. */
  readonly costUsd: number | undefined;
}

export interface ChatSessionOptions {
  /** For the agent, apart from its model. */
  readonly agent: Omit<AgentOptions, 'model' | 'askUser'>;
  readonly dir: string;
  readonly project: string;
}

const REFRESH_MS = 5_000;
const NOTHING: SessionTotals = { turns: 0, calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };

/** One chat: an agent, what has been said to it, and the file that has it all. Begins with what is said first. */
export class ChatSession {
  readonly #options: ChatSessionOptions;
  #agent: Agent;
  #messages: readonly Json[] = [];
  #conversation: string = randomUUID();
  readonly #journal: Journal;
  /** The file to go on in, when a session was resumed and nothing has been said since. */
  #id: string | null = null;
  #totals: SessionTotals = NOTHING;
  /** What servers asked before the file began. */
  #asked: QuestionRecord[] = [];

  private constructor(options: ChatSessionOptions, agent: Agent, journal: Journal) {
    this.#options = options;
    this.#agent = agent;
    this.#journal = journal;
  }

  /** Starts every server and waits for its tools. */
  static async open(options: ChatSessionOptions, model: Model): Promise<ChatSession> {
    const journal: Journal = { trace: null };
    return new ChatSession(options, await agentFor(options, model, journal), journal);
  }

  get agent(): Agent {
    return this.#agent;
  }

  get totals(): SessionTotals {
    return this.#totals;
  }

  /** The session's id, once something was said in it. */
  get id(): string | null {
    return this.#id;
  }

  /** Names the conversation in records; another one once it begins anew. */
  get conversation(): string {
    return this.#conversation;
  }

  /** Takes what servers ask while a person's words are made ready; it is written with the turn that they are for. */
  get questions(): Recorder {
    return {
      intent: async () => {},
      outcome: () => {},
      question: (record) =>
        void (this.#journal.trace ? this.#journal.trace.question?.(record) : this.#asked.push(record)),
    };
  }

  /** True when there is something that the next turn goes on from. */
  get hasMessages(): boolean {
    return this.#messages.length > 0;
  }

  /**
   * One turn, to its end. Never rejects because of what goes wrong in it.
   *
   * @param text what the person said
   * @param said the same with what was named in it, where that is more
   */
  async send(
    text: string,
    options: Pick<RunOptions, 'signal' | 'onProgress'>,
    said: Pick<ComposedInput, 'content' | 'label'> = { content: text },
  ): Promise<RunResult> {
    const trace = await this.#open(text);
    if (said.label) trace.event(said.label);
    const result = await this.#agent.run(said.content, {
      ...options,
      messages: this.#messages,
      conversation: this.#conversation,
      trace,
    }).result;
    this.#messages = result.messages;
    this.#totals = added(this.#totals, result);
    return result;
  }

  /** Forgets what was said; the next turn begins another session. */
  async clear(reason: 'clear' | 'resume' | 'other' = 'clear'): Promise<void> {
    await this.#agent.endSession(this.#conversation, reason);
    await this.#journal.trace?.close();
    this.#journal.trace = null;
    this.#id = null;
    this.#asked = [];
    this.#messages = [];
    this.#conversation = randomUUID();
    this.#totals = NOTHING;
  }

  /** @returns whether the conversation goes on; else the next turn begins another */
  async useModel(model: Model): Promise<'kept' | 'begun_anew'> {
    const carried = model.id === this.#agent.model.id ? this.#messages : portable(this.#messages);
    const agent = await agentFor(this.#options, model, this.#journal);
    await this.#agent.close();
    this.#agent = agent;
    if (carried === null) {
      await this.clear('other');
      return 'begun_anew';
    }
    this.#messages = carried;
    this.#journal.trace?.event({ v: 1, at: Date.now(), type: 'edit', detail: { model: model.id } });
    return 'kept';
  }

  /**
   * Goes on where a session was left.
   *
   * @returns whether the model that is in use can read it; when it can't, nothing has changed
   */
  async resume(session: SessionSummary): Promise<boolean> {
    // What was said last may still be on its way to the file; it is opened again with the next turn.
    const wasOpen = this.#journal.trace !== null;
    await this.#journal.trace?.close();
    this.#journal.trace = null;
    const events: TraceEvent[] = [];
    for await (const event of readTrace(session.file)) events.push(event);
    const { messages, conversation } = await replay(events);
    const readable = lastModel(session, events) === this.#agent.model.id ? messages : portable(messages);
    if (readable === null) return false;
    // The session that is left has to be told that it ends.
    if (wasOpen && this.#options.agent.hooks) await this.#open('').catch(() => {});
    await this.clear('resume');
    this.#messages = readable;
    this.#conversation = conversation ?? this.#conversation;
    this.#id = session.id;
    this.#totals = totalsOf(events);
    return true;
  }

  /** Lists all servers' tools again, without waiting for one that takes long to start. */
  async refresh(signal: AbortSignal): Promise<void> {
    const { ready } = this.#options.agent;
    await this.#agent.catalog.ready({ ms: ready?.ms ?? REFRESH_MS, signal });
  }

  async close(): Promise<void> {
    // Runs first: the end of the session is told once, when none goes on.
    await this.#agent.close();
    await this.#agent.endSession(this.#conversation, 'prompt_input_exit');
    await this.#journal.trace?.close();
  }

  /** Lines of the journal that could not be written. */
  get lost(): number {
    return this.#journal.trace?.lost() ?? 0;
  }

  async #open(task: string): Promise<Trace> {
    if (this.#journal.trace) return this.#journal.trace;
    const { dir, project } = this.#options;
    const isNew = this.#id === null;
    const run = this.#id ?? runId();
    const { name, model } = this.#agent;
    const trace = await createTrace({ dir, run, agent: name, model: model.id, task });
    if (isNew) trace.event({ v: 1, at: Date.now(), type: 'edit', detail: projectNote(project) });
    else trace.event({ v: 1, at: Date.now(), type: 'edit', detail: { model: model.id } });
    for (const record of this.#asked.splice(0)) trace.question?.(record);
    this.#journal.trace = trace;
    this.#id = run;
    return trace;
  }
}

/** The file that has the session, once something was said in it. */
interface Journal {
  trace: Trace | null;
}

function agentFor({ agent }: ChatSessionOptions, model: Model, journal: Journal): Promise<Agent> {
  const recorder = allRecorders(agent.recorder, endsIn(journal));
  // The offline planner marks its questions itself; other models say so by calling a tool.
  const toolSearch = toolSearchFor(model, agent.toolSearch);
  return createAgent({ ...agent, recorder, model, toolSearch, askUser: model.id !== 'offline' });
}

/** Each run writes into the session's file; that the session ends is told when no run goes on. */
function endsIn(journal: Journal): Recorder {
  return {
    intent: async () => {},
    outcome: () => {},
    hook(record) {
      if (record.event === 'SessionEnd') journal.trace?.hook?.(record);
    },
  };
}

/** The model that spoke last, as far as the journal says. */
function lastModel({ model }: SessionSummary, events: readonly TraceEvent[]): string {
  const noted = events.flatMap((event) => (event.type === 'edit' ? [memberOf(event.detail, 'model')] : []));
  const last = noted.filter((each) => typeof each === 'string').at(-1);
  return typeof last === 'string' ? last : model;
}

function totalsOf(events: readonly TraceEvent[]): SessionTotals {
  let totals = NOTHING;
  for (const event of events) {
    if (event.type !== 'end') continue;
    const usage = memberOf(event.detail, 'usage') ?? null;
    const costUsd = memberOf(usage, 'costUsd');
    totals = added(totals, {
      calls: numberOf(memberOf(event.detail, 'calls')),
      usage: {
        inputTokens: numberOf(memberOf(usage, 'inputTokens')),
        outputTokens: numberOf(memberOf(usage, 'outputTokens')),
        ...(typeof costUsd === 'number' && { costUsd }),
      },
    });
  }
  return totals;
}

function added(totals: SessionTotals, { calls, usage }: Pick<RunResult, 'calls' | 'usage'>): SessionTotals {
  const { costUsd } = usage;
  return {
    turns: totals.turns + 1,
    calls: totals.calls + calls,
    inputTokens: totals.inputTokens + usage.inputTokens,
    outputTokens: totals.outputTokens + usage.outputTokens,
    costUsd: totals.costUsd === undefined || costUsd === undefined ? undefined : totals.costUsd + costUsd,
  };
}

function memberOf(value: Json, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
