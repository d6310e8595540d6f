import { recordList } from '../catalog/index.ts';
import type { Asker, Json, Outcome, RunBegun } from '../contracts/index.ts';
import { allRecorders, createDispatcher } from '../dispatch/index.ts';
import { providerUses } from '../policy/index.ts';
import { BridleError } from '../tools/index.ts';
import { checkInput, checkLimits } from './agent-checks.ts';
import type { RunOptions } from './agent-options.ts';
import { askerOf } from './agent-policy.ts';
import { isObject } from './blocks.ts';
import { callRecords } from './call-records.ts';
import { checkToolChoice, namedIn } from './choice-plan.ts';
import type { RunEvent } from './events.ts';
import { referencedIn } from './found-tools.ts';
import { effectiveLimits } from './limits.ts';
import { loopConfig } from './loop-config.ts';
import { OriginBook, tracingDispatcher } from './origin-book.ts';
import { readMessages } from './read-messages.ts';
import { readinessNews, type Told, visibleSources } from './readiness.ts';
import { rememberEnd, runBegun } from './resume/journal-begin.ts';
import { messagesBefore, openRun, outcomesOf } from './resume/open-run.ts';
import { checkModel } from './resume/resume-options.ts';
import { type RunSegment, wasSearched } from './resume/run-segment.ts';
import { keepCut, settleCalls, shaped } from './resume/settle-calls.ts';
import { failedRun, type Run, startRun } from './run.ts';
import { agentTools, type RunTools } from './run-tools.ts';
import type { RunGoesOn } from './shell-options.ts';
import { siblingRules } from './siblings.ts';
import { initialState, type LoopState } from './state.ts';
import { checkCitations, outputCheck, outputFormatOf } from './structured-output.ts';
import { SharedBudget } from './subagents/shared-budget.ts';
import type { AgentParts, RunStarter } from './agent-parts.ts';
import { endDetail, errorOf } from './end-detail.ts';

/** What differs between a run that begins and one that goes on. */
interface Launch {
  readonly state: LoopState;
  readonly runTools: RunTools;
  readonly runOptions: Pick<RunOptions, 'signal' | 'onProgress' | 'trace' | 'output'>;
  readonly conversation: string;
  readonly before: readonly Json[];
  readonly input: Json;
  readonly notes: readonly string[];
  readonly begun?: RunBegun;
  readonly goesOn?: RunGoesOn;
  /** Of calls that were made before it went on. */
  readonly outcomes?: Iterable<{ readonly callId: string; readonly name: string; readonly outcome: Outcome }>;
}

/** How long a call's end waits for a list of tools that the call changed, in milliseconds. */
const SETTLE_MS = 5_000;

/**
 * What starts an agent's runs. Checks the agent's own options first.
 *
 * @throws BridleError `tool_name_taken`, `tool_choice_unknown`, `tool_choice_invalid`, `tool_choice_never_ends`,
 *   `siblings_invalid`, `tool_search_invalid`, `strict_invalid`
 */
export function runStarter(parts: AgentParts): RunStarter {
  const { options, model, who, policy, catalog, hooks, reader, idempotency } = parts;
  const tools = agentTools(parts);
  siblingRules(options.siblings);
  checkToolChoice(options.toolChoice, tools.listed(), effectiveLimits(options.limits).turns);
  /** By conversation, what its model knows of servers that weren't there. */
  const toldIn = new Map<string, Told>();
  const newsOf = (conversation: string): string | null => {
    const sources = visibleSources(catalog.readiness(), policy, who);
    const { told, note } = readinessNews(toldIn.get(conversation) ?? new Map(), sources);
    if (told.size > 0) toldIn.set(conversation, told);
    else toldIn.delete(conversation);
    return note;
  };
  const asker = askerOf(options);

  const checkOpen = () => {
    if (!parts.isClosed()) return;
    throw new BridleError('agent_closed', `The agent "${who.agent}" is closed.`, { hint: MAKE_ANOTHER });
  };

  const launch = ({
    state,
    runTools,
    runOptions,
    conversation,
    before,
    input,
    notes,
    begun,
    goesOn,
    outcomes = [],
  }: Launch): Run => {
    const trace = runOptions.trace ?? options.trace;
    const output = runOptions.output ?? options.output;
    const records = callRecords();
    const recorder = allRecorders(options.recorder, trace, records.recorder);
    let seen = '';
    const tellList = () => recordList(recorder, { catalog, policy }, who, () => catalog.list(who));
    tellList();
    let declaredAs = '';
    const tellDeclared = () => {
      const declarations = parts.provided?.declarations() ?? [];
      const now = JSON.stringify(declarations.map(({ leftOut }) => leftOut ?? null));
      if (now === declaredAs) return;
      declaredAs = now;
      for (const each of declarations) recorder.declared?.({ ...each, conversation });
    };
    tellDeclared();
    const follower = recorder.run?.({ conversation, who, model: model.id, at: Date.now() });
    const known = new Set([...state.tools, ...state.addedTools, ...(goesOn?.tools ?? [])].map((tool) => tool.name));
    const newBook = () => new OriginBook(tools.find, reader.tool.ref.name, parts.subagents?.labelsIn(conversation));
    const book = parts.book?.() ?? bookOf(newBook(), options.system, before, input);
    for (const { callId, name, outcome } of outcomes) book.addOutcome(callId, name, outcome);
    if (goesOn) for (const message of state.transcript.messages) book.addReply(message);
    const { limits, costOf } = state.config;
    const budget = new SharedBudget(limits, state.usage, costOf);
    const started = parts.subagents?.during({ conversation, book, budget });
    const found = (name: string) => runTools.find(name, recorder);
    let tell: (event: RunEvent) => void = () => {};
    return startRun({
      state,
      model,
      dispatcher: (watch: (asker: Asker) => Asker) =>
        tracingDispatcher(
          createDispatcher({
            find: (name) => (started ? started.found(found(name)) : found(name)),
            policy,
            asker: watch(asker),
            recorder,
            results: tools.results,
            idempotency,
            ...(options.callLimits !== undefined && { limits: options.callLimits }),
          }),
          book,
        ),
      who,
      conversation,
      content: input,
      begun: trace && begun,
      goesOn,
      signal: runOptions.signal,
      idleMs: options.callLimits?.idleMs ?? 120_000,
      hardMs: options.callLimits?.hardMs ?? 600_000,
      modelIdleMs: options.modelIdleMs ?? 600_000,
      graceMs: options.graceMs ?? 5_000,
      now: Date.now,
      check: output && outputCheck(output),
      input: hooks.answering(conversation, options.input),
      after(call, signal) {
        const record = records.take(call.callId);
        return hooks.after({ ...call, conversation, tool: found(call.name)?.tool, record }, signal);
      },
      settled: () => catalog.settle(SETTLE_MS),
      notes,
      listen: (emit) => {
        tell = emit;
        started?.listen(emit);
      },
      news: () => {
        const note = newsOf(conversation);
        const version = tools.versionIn(conversation);
        if (version === seen) return { tools: [], note };
        if (seen !== '') tellList();
        seen = version;
        tellDeclared();
        const now = runTools.list();
        const fresh = now.filter((tool) => !known.has(tool.name));
        const gone = [...known].filter((name) => !now.some((tool) => tool.name === name));
        for (const name of gone) known.delete(name);
        for (const tool of fresh) known.add(tool.name);
        return { tools: fresh, gone, note };
      },
      onProgress: (event: RunEvent) => {
        options.onProgress?.(event);
        runOptions.onProgress?.(event);
      },
      onEvent: (event) => {
        budget.event(event);
        // Before its calls are given out: what the provider read stands in the same reply.
        if (event.type === 'model') {
          book.addReply(event.message);
          for (const use of providerUses(event.message)) tell({ type: 'provider_call', ...use });
        }
        follower?.event(event);
        trace?.event(event);
      },
      onEnd: (result) => {
        const detail = endDetail(result);
        follower?.end(result.end, detail);
        trace?.end(result.end, detail);
        if (trace) rememberEnd(trace, result.messages);
      },
    });
  };
  const noteOfNews = (conversation: string) => {
    const note = newsOf(conversation);
    return note === null ? [] : [note];
  };

  return {
    strict: tools.strict,
    begin(input, runOptions, conversation, hookNotes = []) {
      const before = runOptions.messages ?? [];
      try {
        checkOpen();
        const transcript = readMessages(before);
        if ('problem' in transcript) {
          throw new BridleError('messages_invalid', `This conversation can't be continued: ${transcript.problem}.`, {
            hint: "Pass the messages of an earlier result as they are, or leave 'messages' out to begin anew.",
          });
        }
        checkInput(input, before);
        checkLimits({ ...options.limits, ...runOptions.limits }, model);
        const output = runOptions.output ?? options.output;
        if (output !== undefined) checkCitations(input, before);
        const choice = runOptions.toolChoice ?? options.toolChoice;
        const runTools = tools.forRun({
          conversation,
          named: [...namedIn(choice), ...(options.answer?.tools ?? [])],
          searched: referencedIn(before).size > 0,
          format: output && outputFormatOf(output),
        });
        const own = runTools.list();
        const config = loopConfig(options, runOptions, model, own, runTools.search, runTools.notices);
        checkToolChoice(choice, own, config.limits.turns);
        const trace = runOptions.trace ?? options.trace;
        return launch({
          state: initialState(config, transcript),
          runTools,
          runOptions,
          conversation,
          before,
          input,
          notes: [...hookNotes, ...noteOfNews(conversation)],
          ...(trace && { begun: runBegun(trace, { conversation, model: model.id, config, before }) }),
        });
      } catch (error) {
        return failedRun(errorOf(error), before, conversation);
      }
    },
    async resume(segment, journal, resumeOptions, conversation) {
      checkOpen();
      checkLimits(resumeOptions.limits, model);
      checkModel(segment, model.id);
      const before = await messagesBefore(segment);
      // What was cut can be read on: the same text has the same handle again.
      const outcomes = [...outcomesOf(segment)];
      const owner = { who, conversation };
      const maxChars = options.callLimits?.maxResultChars;
      keepCut(outcomes, (text) => tools.results.keep(owner, text));
      const runTools = tools.forRun({
        conversation,
        named: [...namedIn(options.toolChoice), ...(options.answer?.tools ?? [])],
        searched: wasSearched(segment) || referencedIn(before).size > 0,
        format: formatIn(segment) ?? (options.output && outputFormatOf(options.output)),
      });
      const live = loopConfig(options, {}, model, runTools.list(), runTools.search, runTools.notices);
      const run = openRun(segment, before, live);
      const signal = resumeOptions.signal ?? NEVER;
      const hooked = await hooks.submit(conversation, [], true, signal);
      const settled = await settleCalls(run.open, {
        who,
        conversation,
        records: segment.records,
        recorder: allRecorders(options.recorder, journal),
        shape: (outcome) => shaped(outcome, maxChars, (text) => tools.results.keep(owner, text)),
        unsure: resumeOptions.unsure,
        signal,
      });
      const there = new Set([...run.state.tools, ...run.state.addedTools].map(({ name }) => name));
      const notes = [...(run.note === null ? [] : [run.note]), ...(hooked.kind === 'sent' ? hooked.notes : [])];
      return launch({
        state: run.state,
        runTools,
        runOptions: { ...resumeOptions, trace: journal },
        conversation,
        before,
        input: segment.input,
        outcomes,
        notes: [],
        goesOn: {
          notes: [...notes, ...noteOfNews(conversation)],
          tools: runTools.list().filter(({ name }) => !there.has(name) || run.state.gone.includes(name)),
          resumed: {
            type: 'resume',
            idleMs: Math.max(0, Date.now() - segment.lastAt),
            again: settled.again,
            ...(resumeOptions.limits !== undefined && { limits: { ...resumeOptions.limits } }),
          },
          ended: settled.ended,
        },
      });
    },
  };
}

const NEVER = new AbortController().signal;
const MAKE_ANOTHER = 'Make another one with createAgent.';

/** What the answer of a run that broke off is held to. */
function formatIn({ begun }: RunSegment): Json | undefined {
  const config = begun?.config;
  return isObject(config) && isObject(config.output) ? config.output.format : undefined;
}

/** What is known of the conversation as the run begins. */
function bookOf(book: OriginBook, system: string | undefined, before: readonly Json[], input: Json): OriginBook {
  if (system !== undefined) book.addContext(system);
  book.addMessages(before);
  book.addInput(input);
  return book;
}
