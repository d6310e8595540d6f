/**
 * Rule of this file: an agent that is started is held to all that holds for the one that starts it. Its calls go through
 * the same policy, asker and records, it counts against the same budget, it ends when that one's call is cancelled, and
 * what has entered the one conversation has entered the other.
 */
import { randomUUID } from 'node:crypto';
import type {
  CallContext,
  Json,
  ParentCall,
  Policy,
  Recorder,
  RunFollower,
  SourceResult,
} from '../../contracts/index.ts';
import { allRecorders } from '../../dispatch/index.ts';
import { costOf } from '../../models/index.ts';
import { withHooks, withViews } from '../../policy/index.ts';
import { agentHooks } from '../agent-hooks.ts';
import type { AgentOptions, RunJournal, RunOptions } from '../agent-options.ts';
import type { RunEvent, RunResult } from '../events.ts';
import type { HookListeners } from '../hook-listeners.ts';
import type { OriginBook } from '../origin-book.ts';
import type { Run } from '../run.ts';
import type { AgentParts, RunStarter } from '../agent-parts.ts';
import { words } from '../shell-faults.ts';
import { addStarted } from '../usage.ts';
import { effectsOfRun } from './effects-of-run.ts';
import type { SharedBudget } from './shared-budget.ts';
import { isTransient, startedEnd } from './started-end.ts';
import type { ReadySubagent } from './subagent.ts';
import { subagentPolicy } from './subagent-policy.ts';

/** The run that starts others, as far as they share it. */
export interface StartingRun {
  readonly conversation: string;
  readonly book: OriginBook;
  readonly budget: SharedBudget;
  emit(event: RunEvent): void;
}

/** What every start of an agent works with. */
export interface SubagentWorks {
  readonly parts: Omit<AgentParts, 'isClosed' | 'subagents'> & {
    /** Without the hooks: they are told who calls. */
    readonly basePolicy: AgentParts['policy'];
    readonly hookSet: Parameters<typeof agentHooks>[0]['hooks'];
    readonly listeners: HookListeners;
  };
  isClosed(): boolean;
  start(parts: AgentParts): RunStarter;
}

/** How often a run goes on after a failure of its model that may pass. */
const RECOVERIES = 2;
const FIRST_WAIT_MS = 500;
/** Of a reply that comes whole afterwards. */
const PIECES: ReadonlySet<RunEvent['type']> = new Set(['text', 'thinking', 'arguments']);

export async function startSubagent(
  agent: ReadySubagent,
  task: string,
  { works, from, ctx }: { readonly works: SubagentWorks; readonly from: StartingRun; readonly ctx: CallContext },
): Promise<SourceResult> {
  const left = from.budget.left();
  if (left === null) return notStarted('What the run may use is used up, so no other agent is started.');
  const { parts } = works;
  const { options, listeners } = parts;
  const who = { ...parts.who, agent: agent.name };
  const conversation = randomUUID();
  const parent: ParentCall = { conversation: from.conversation, callId: ctx.callId };
  let journal: Awaited<ReturnType<NonNullable<AgentOptions['subagentTrace']>>>;
  try {
    journal = await options.subagentTrace?.({ agent: agent.name, model: agent.model.id, task, conversation, parent });
  } catch (error) {
    return notStarted(`The agent was not started, as its run can't be written down: ${words(error)}`);
  }
  const effects = effectsOfRun();
  const book = from.book.fork();
  book.addContext(agent.instructions);
  const tell = (event: RunEvent) => {
    if (!PIECES.has(event.type))
      from.emit({ type: 'subagent', callId: ctx.callId, agent: agent.name, conversation, event });
  };
  let run: Run | undefined;
  let isStopped = false;
  const spending = from.budget.begin(
    (usage) => costOf(agent.model.id, usage),
    () => {
      isStopped = true;
      run?.abort(NOTHING_LEFT);
    },
  );
  const recorder = allRecorders(
    withParent(options.recorder, parent),
    journal && withParent(journal, parent),
    effects.recorder,
    following((event) => event.type === 'model' && spending.used(event.usage)),
  );
  const hooks = agentHooks({ hooks: parts.hookSet, who, listeners });
  const policy = withHooks(subagentPolicy(agent, parts.basePolicy), hooks.guards);
  const starter = works.start({
    ...parts,
    options: optionsOf(options, agent, recorder),
    model: agent.model,
    who,
    policy,
    hooks,
    catalog: seenBy(parts.catalog, withViews(policy)),
    book: () => book,
    isClosed: works.isClosed,
  });
  const watch = { onProgress: tell, ...(journal && { trace: eventsOnly(journal) }) };
  const leave = listeners.during(conversation, { onProgress: tell });
  const runOptions: RunOptions = { signal: ctx.signal, limits: { ...smaller(agent.limits, left) }, ...watch };
  try {
    let result: RunResult | undefined;
    let tries = 0;
    for (;;) {
      const input: string | Json[] = result ? [] : task;
      run = starter.begin(input, { ...runOptions, ...(result && { messages: result.messages }) }, conversation);
      if (isStopped) run.abort(NOTHING_LEFT);
      result = joined(result, await run.result);
      tries += 1;
      // It goes on from what it has: no call that was answered is made again.
      if (tries > RECOVERIES || !isTransient(result) || ctx.signal.aborted || isStopped) break;
      if (!(await waited(FIRST_WAIT_MS * 2 ** (tries - 1), ctx.signal))) break;
    }
    const { labels } = book.provenance();
    const started = {
      agent: agent.name,
      conversation,
      labels: [...labels],
      usage: result.usage,
      parked: result.parked ?? [],
    };
    const end = isStopped && result.end === 'aborted' ? outOfBudget(result) : result;
    return startedEnd(end, started, { effects, tries });
  } finally {
    spending.end();
    leave();
    // What was done is done, whether all of it is written down or not.
    await journal?.close?.().catch(() => {});
  }
}

const NOTHING_LEFT = 'What the run that started it may use is used up.';

function outOfBudget(result: RunResult): RunResult {
  const { text, parked = [] } = result;
  const pending = parked.map((call) => ({ kind: 'approval' as const, ...call }));
  const over = result.handoff ?? { tried: [], partialResults: [], pending, text };
  return { ...result, end: 'limit', handoff: { ...over, reason: 'shared', message: NOTHING_LEFT } };
}

/** A run that went on is told as one. */
function joined(before: RunResult | undefined, now: RunResult): RunResult {
  if (!before) return now;
  const parked = [...(before.parked ?? []), ...(now.parked ?? [])];
  return {
    ...now,
    text: now.text === '' ? before.text : now.text,
    usage: addStarted(before.usage, now.usage),
    turns: before.turns + now.turns,
    calls: before.calls + now.calls,
    ...(parked.length > 0 && { parked }),
  };
}

function smaller(own: ReadySubagent['limits'], left: { readonly tokens?: number; readonly costUsd?: number }) {
  const least = (name: 'tokens' | 'costUsd') => {
    const value = Math.min(own[name] ?? Number.POSITIVE_INFINITY, left[name] ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(value) ? { [name]: value } : {};
  };
  return { ...own, ...least('tokens'), ...least('costUsd') };
}

/** The same list, with what the policy hides left out. */
function seenBy(catalog: AgentParts['catalog'], policy: Policy): AgentParts['catalog'] {
  return {
    ...catalog,
    get version() {
      return catalog.version;
    },
    list: (who) => catalog.list(who).filter((tool) => policy.view(who, tool).effect !== 'deny'),
  };
}

/** Of the options of the agent that starts it, those that are the host's and not that agent's own. */
function optionsOf(options: AgentOptions, agent: ReadySubagent, recorder: Recorder): AgentOptions {
  const { asker, callLimits, input, untrustedContentNotice, modelIdleMs, graceMs, parallel, toolSearch, strict } =
    options;
  return {
    name: agent.name,
    model: agent.model,
    system: agent.instructions,
    recorder,
    ...(asker && { asker }),
    ...(callLimits && { callLimits }),
    ...(input && { input }),
    ...(untrustedContentNotice !== undefined && { untrustedContentNotice }),
    ...(modelIdleMs !== undefined && { modelIdleMs }),
    ...(graceMs !== undefined && { graceMs }),
    ...(parallel !== undefined && { parallel }),
    ...(toolSearch !== undefined && { toolSearch }),
    ...(strict !== undefined && { strict }),
  };
}

/** The same recorder, told of each record to which call of which conversation it goes back. */
function withParent(recorder: Recorder | undefined, parent: ParentCall): Recorder | undefined {
  if (!recorder) return undefined;
  return {
    intent: (record) => recorder.intent({ ...record, parent }),
    outcome: (record) => recorder.outcome({ ...record, parent }),
    trace: (call) => recorder.trace?.(call),
    question: (record) => recorder.question?.(record),
    hook: (record) => recorder.hook?.(record),
    ...(recorder.listed && { listed: (record) => recorder.listed?.(record) }),
    run: (record) => recorder.run?.({ ...record, parent }),
  };
}

function following(event: RunFollower['event']): Recorder {
  return { intent: async () => {}, outcome: () => {}, run: () => ({ event, end: () => {} }) };
}

/** Calls are written into the journal by the recorder already, with their parent. */
function eventsOnly(journal: RunJournal): RunJournal {
  return {
    intent: async () => {},
    outcome: () => {},
    event: (event) => journal.event(event),
    end: (how, detail) => journal.end(how, detail),
  };
}

/** False when the call was cancelled meanwhile. */
function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (whole: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      resolve(whole);
    };
    const cancel = () => done(false);
    const timer = setTimeout(() => done(true), ms);
    signal.addEventListener('abort', cancel, { once: true });
  });
}

function notStarted(message: string): SourceResult {
  const failure = {
    category: 'business',
    retryable: false,
    message,
    executed: 'not_executed',
    attempts: [],
    alternatives: ['Answer with what is known.'],
  } as const;
  return { kind: 'failure', failure };
}
