import { randomUUID } from 'node:crypto';
import { createCatalog, recordList } from '../catalog/index.ts';
import type { Asker, Identity, Json, Model, Source, ToolDefinition } from '../contracts/index.ts';
import {
  allRecorders,
  createDispatcher,
  createResultStore,
  idempotencyLedger,
  refuseAsker,
  resultReader,
} from '../dispatch/index.ts';
import { costOf, modelFacts, resolveModel } from '../models/index.ts';
import { withHooks } from '../policy/index.ts';
import { memoryStore } from '../store/index.ts';
import { BridleError, functionSource, isBridleError, toApiTool } from '../tools/index.ts';
import { agentHooks, hookSetOf } from './agent-hooks.ts';
import type { Agent, AgentOptions, Conversation, RunOptions, ToolChoice } from './agent-options.ts';
import { agentPolicy } from './agent-policy.ts';
import { ASK_USER, askUserTool } from './ask-user.ts';
import { contentBlocks, isBlank, isBlock, isObject } from './blocks.ts';
import { deferredRun } from './deferred-run.ts';
import type { RunEvent, RunResult } from './events.ts';
import { hookListeners } from './hook-listeners.ts';
import { effectiveLimits, type RunLimits, wrongLimits } from './limits.ts';
import { OriginBook, tracingDispatcher } from './origin-book.ts';
import { readMessages } from './read-messages.ts';
import { readinessNews, type Told, visibleSources } from './readiness.ts';
import { failedRun, type Run, startRun } from './run.ts';
import { initialState, type LoopConfig, type LoopTool } from './state.ts';
import { systemPrompt, UNTRUSTED_CONTENT_NOTICE } from './system-prompt.ts';

const HOW_TO_ALLOW =
  "pass permissions: { allow: ['{rule}'] } to createAgent, or give it an asker that can put the question to a person";

/**
 * Makes an agent: a model, the tools it may use, and the rules for them.
 *
 * @example
 * const agent = await createAgent({ model: 'offline', tools: [lookUp], permissions: { allow: ['look_up'] } });
 * const { end, text } = await agent.run('Look up ticket 7.').result;
 *
 * @throws BridleError `model_unknown` and the other codes of `resolveModel`; `permissions_invalid`, `limits_invalid`,
 *   `tool_name_taken`, `tool_choice_unknown`, `cost_unknown`
 */
export async function createAgent(options: AgentOptions): Promise<Agent> {
  const model = typeof options.model === 'string' ? await resolveModel(options.model) : options.model;
  checkLimits(options.limits, model);
  const results = createResultStore();
  const idempotency = options.idempotency ?? idempotencyLedger(memoryStore());
  const reader = await readerTool(results);
  const hookSet = await hookSetOf(options.hooks);
  const who: Identity = {
    agent: options.name ?? 'agent',
    via: options.via ?? 'library',
    ...(options.user !== undefined && { user: options.user }),
    ...(options.scopes !== undefined && { scopes: options.scopes }),
  };
  const listeners = hookListeners(options);
  const hooks = agentHooks({ hooks: hookSet, who, listeners });
  const policy = withHooks(await agentPolicy(options, reader.tool), hooks.guards);
  const own = options.tools === undefined ? [] : [functionSource(options.tools)];
  const catalog = createCatalog({
    sources: [...own, ...(options.sources ?? [])],
    policy,
    ...(options.views && { views: options.views }),
  });
  await (options.ready ? catalog.ready({ ...options.ready, signal: options.signal }) : catalog.refresh(options.signal));
  const reserved = [reader.tool.ref.name, ...(options.askUser === true ? [ASK_USER] : [])];
  checkNames(catalog.list(who), reserved);

  const loopTool = cachedLoopTool();
  const listed = (): LoopTool[] => [
    // One that comes later under a name of ours is left out: nobody is there any more to be told.
    ...catalog
      .list(who)
      .filter(({ ref }) => !reserved.includes(ref.name))
      .map(loopTool),
    ...(options.askUser === true ? [askUserTool()] : []),
  ];
  checkToolChoice(options.toolChoice, listed());
  /** Conversations in which a result was cut: only these need the tool that reads on. */
  const cutIn = new Set<string>();
  /** By conversation, what its model knows of servers that weren't there. */
  const toldIn = new Map<string, Told>();
  const newsOf = (conversation: string): string | null => {
    const sources = visibleSources(catalog.readiness(), policy, who);
    const { told, note } = readinessNews(toldIn.get(conversation) ?? new Map(), sources);
    if (told.size > 0) toldIn.set(conversation, told);
    else toldIn.delete(conversation);
    return note;
  };
  const noticing: typeof results = {
    keep(owner, text) {
      cutIn.add(owner.conversation);
      return results.keep(owner, text);
    },
    read: (owner, handle) => results.read(owner, handle),
  };
  const find = (name: string) => catalog.find(name) ?? (name === reader.tool.ref.name ? reader : undefined);
  const asker = options.asker ?? refuseAsker(HOW_TO_ALLOW);
  const notice = options.untrustedContentNotice ?? UNTRUSTED_CONTENT_NOTICE;
  const mostOut = modelFacts(model.id)?.maxOutput ?? Number.POSITIVE_INFINITY;
  const maxTokens = options.maxTokens ?? Math.min(8_192, mostOut);
  const running = new Set<Run>();
  let isClosed = false;

  const begin = (
    input: string | Json[],
    runOptions: RunOptions,
    conversation: string,
    hookNotes: string[] = [],
  ): Run => {
    const before = runOptions.messages ?? [];
    try {
      if (isClosed)
        throw new BridleError('agent_closed', `The agent "${who.agent}" is closed.`, { hint: MAKE_ANOTHER });
      const transcript = readMessages(before);
      if ('problem' in transcript) {
        throw new BridleError('messages_invalid', `This conversation can't be continued: ${transcript.problem}.`, {
          hint: "Pass the messages of an earlier result as they are, or leave 'messages' out to begin anew.",
        });
      }
      checkInput(input, before);
      const limits = { ...options.limits, ...runOptions.limits };
      checkLimits(limits, model);
      const tools = listed();
      if (cutIn.has(conversation)) tools.push(loopTool(reader.tool));
      const toolChoice = runOptions.toolChoice ?? options.toolChoice;
      checkToolChoice(toolChoice, tools);
      const system = systemPrompt(options.system, options.sourceNotes?.() ?? '', notice);
      const config: LoopConfig = {
        tools,
        limits: effectiveLimits(limits),
        maxTokens,
        maxTokensRetry: options.maxTokensRetry ?? Math.min(maxTokens * 4, mostOut),
        parallel: options.parallel ?? 8,
        costOf: (usage) => costOf(model.id, usage),
        ...(system !== undefined && { system }),
        ...(toolChoice !== undefined && { toolChoice: { ...toolChoice } }),
        ...(options.askUser === true && { askTool: ASK_USER }),
      };
      const trace = runOptions.trace ?? options.trace;
      const recorder = allRecorders(options.recorder, trace);
      let seen = '';
      const tellList = () => recordList(recorder, { catalog, policy }, who, () => catalog.list(who));
      tellList();
      const follower = recorder.run?.({ conversation, who, model: model.id, at: Date.now() });
      const known = new Set(tools.map((tool) => tool.name));
      const started = startRun({
        state: initialState(config, transcript),
        model,
        dispatcher: (watch: (asker: Asker) => Asker) =>
          tracingDispatcher(
            createDispatcher({
              find,
              policy,
              asker: watch(asker),
              recorder,
              results: noticing,
              idempotency,
              ...(options.callLimits !== undefined && { limits: options.callLimits }),
            }),
            bookOf(new OriginBook(find, reader.tool.ref.name), options.system, before, input),
          ),
        who,
        conversation,
        content: input,
        signal: runOptions.signal,
        idleMs: options.callLimits?.idleMs ?? 120_000,
        hardMs: options.callLimits?.hardMs ?? 600_000,
        modelIdleMs: options.modelIdleMs ?? 600_000,
        graceMs: options.graceMs ?? 5_000,
        now: Date.now,
        input: hooks.answering(conversation, options.input),
        after: (call, signal) => hooks.after({ ...call, conversation, tool: find(call.name)?.tool }, signal),
        settled: () => catalog.settle(SETTLE_MS),
        notes: [...hookNotes, ...noteOf(newsOf(conversation))],
        news: () => {
          const note = newsOf(conversation);
          const version = `${catalog.version} ${cutIn.has(conversation)}`;
          if (version === seen) return { tools: [], note };
          if (seen !== '') tellList();
          seen = version;
          const now = [...listed(), ...(cutIn.has(conversation) ? [loopTool(reader.tool)] : [])];
          const fresh = now.filter((tool) => !known.has(tool.name));
          for (const tool of fresh) known.add(tool.name);
          return { tools: fresh, note };
        },
        onProgress: (event: RunEvent) => {
          options.onProgress?.(event);
          runOptions.onProgress?.(event);
        },
        onEvent: (event) => {
          follower?.event(event);
          trace?.event(event);
        },
        onEnd: (result) => {
          const detail = endDetail(result);
          follower?.end(result.end, detail);
          trace?.end(result.end, detail);
        },
      });
      return started;
    } catch (error) {
      return failedRun(errorOf(error), before, conversation);
    }
  };
  /** Hooks on the input first, where there are any: a run without them starts at once. */
  const hooked = async (input: string | Json[], runOptions: RunOptions, conversation: string): Promise<Run> => {
    const before = runOptions.messages ?? [];
    const signal = runOptions.signal ?? new AbortController().signal;
    try {
      const said = await hooks.submit(conversation, input, before.length > 0, signal);
      if (said.kind === 'sent') return begin(input, runOptions, conversation, [...said.notes]);
      return failedRun(said.error, before, conversation);
    } catch (error) {
      return failedRun(errorOf(error), before, conversation);
    }
  };
  const run = (input: string | Json[], runOptions: RunOptions = {}): Run => {
    const conversation = runOptions.conversation ?? randomUUID();
    const leave = listeners.during(conversation, runOptions);
    const hasHooks = INPUT_HOOKS.some((event) => hookSet.has(event));
    const started = hasHooks
      ? deferredRun(hooked(input, runOptions, conversation))
      : begin(input, runOptions, conversation);
    running.add(started);
    void started.result.then(() => {
      leave();
      running.delete(started);
    });
    return started;
  };

  return {
    name: who.agent,
    model,
    catalog,
    run,
    conversation: (start = {}) => conversationOf(run, start.id ?? randomUUID(), start.messages ?? []),
    tools: () => catalog.list(who),
    endSession: (conversation, reason) => hooks.end(conversation, reason),
    async close() {
      isClosed = true;
      const all = [...running];
      for (const each of all) each.abort('The agent was closed.');
      await Promise.all(all.map((each) => each.result));
      // A set that was given goes on: its sessions are the caller's to end.
      if (options.hooks !== hookSet) await hooks.endAll();
      catalog.close();
    },
  };
}

/** Hooks that are asked before a run begins, or told when its session ends. */
const INPUT_HOOKS = ['SessionStart', 'SessionEnd', 'UserPromptSubmit'] as const;
/** How long a call's end waits for a list of tools that the call changed, in milliseconds. */
const SETTLE_MS = 5_000;
/** What is known of the conversation as the run begins. */
function bookOf(
  book: OriginBook,
  system: string | undefined,
  before: readonly Json[],
  input: string | Json[],
): OriginBook {
  if (system !== undefined) book.addContext(system);
  book.addMessages(before);
  book.addInput(input);
  return book;
}

const MAKE_ANOTHER = 'Make another one with createAgent.';

function conversationOf(run: Agent['run'], id: string, start: readonly Json[]): Conversation {
  let messages = start;
  let isBusy = false;
  return {
    id,
    get messages() {
      return messages;
    },
    run(input, options = {}) {
      if (isBusy) {
        throw new BridleError('conversation_busy', 'The run before this one goes on in the same conversation.', {
          hint: 'Await its result first, or abort it.',
        });
      }
      isBusy = true;
      const started = run(input, { ...options, messages, conversation: id });
      void started.result.then((result) => {
        messages = result.messages;
        isBusy = false;
      });
      return started;
    },
  };
}

function noteOf(note: string | null): string[] {
  return note === null ? [] : [note];
}

async function readerTool(results: ReturnType<typeof createResultStore>) {
  const source: Source = resultReader(results);
  const { tools } = await source.list(new AbortController().signal);
  const [tool] = tools;
  if (tool === undefined) throw new Error('The result reader lists no tool.');
  return { tool, source };
}

/** A definition's entry is made once: the same text in every request keeps the model's cache. */
function cachedLoopTool(): (tool: ToolDefinition) => LoopTool {
  const made = new WeakMap<ToolDefinition, LoopTool>();
  return (tool) => {
    const known = made.get(tool);
    if (known !== undefined) return known;
    const fresh: LoopTool = { name: tool.ref.name, entry: toApiTool(tool), effect: tool.effect };
    made.set(tool, fresh);
    return fresh;
  };
}

function endDetail(result: RunResult): Json {
  const { usage, turns, calls, error } = result;
  return {
    text: result.text,
    turns,
    calls,
    usage: { ...usage },
    ...(error !== undefined && { error: { ...error } }),
    ...(result.handoff !== undefined && {
      limit: { reason: result.handoff.reason, message: result.handoff.message },
    }),
  };
}

function checkLimits(limits: RunLimits | undefined, model: Model): void {
  const wrong = wrongLimits(limits ?? {});
  if (wrong.length > 0) {
    const names = wrong.map((name) => `limits.${name}`).join(', ');
    throw new BridleError('limits_invalid', `${names} must be a number above zero.`, {
      hint: 'Leave a limit out to have its default.',
    });
  }
  if (limits?.costUsd !== undefined && costOf(model.id, {}) === undefined) {
    throw new BridleError('cost_unknown', `limits.costUsd can't be kept: no price is known for model "${model.id}".`, {
      hint: 'Limit its tokens instead.',
    });
  }
}

function checkNames(tools: readonly ToolDefinition[], reserved: readonly string[]): void {
  const taken = tools.find((tool) => reserved.includes(tool.ref.name));
  if (taken === undefined) return;
  throw new BridleError('tool_name_taken', `A tool is named "${taken.ref.name}", which is Bridle's own name here.`, {
    hint: 'Give your tool another name.',
  });
}

function checkToolChoice(choice: ToolChoice | undefined, tools: readonly LoopTool[]): void {
  if (choice?.type !== 'tool' || tools.some((tool) => tool.name === choice.name)) return;
  throw new BridleError('tool_choice_unknown', `toolChoice names "${choice.name}", which this agent doesn't have.`, {
    hint: `Name one of: ${tools.map((tool) => tool.name).join(', ') || '(it has no tools)'}.`,
  });
}

function checkInput(input: string | Json[], before: readonly Json[]): void {
  const isEmpty = contentBlocks(input).every(isBlank);
  const last = before.at(-1);
  if (isEmpty && !(isObject(last) && last.role === 'user')) {
    throw new BridleError('input_empty', 'There is nothing to do: the input is empty.', {
      hint: 'Say what the agent is to do.',
    });
  }
  if (typeof input !== 'string' && input.some((block) => !isObject(block) || isBlock(block, 'tool_result'))) {
    throw new BridleError('input_invalid', 'The input holds something that is not a content block of a user.', {
      hint: "Pass text, or Messages API blocks such as text, image or document. Results of calls are the loop's.",
    });
  }
}

function errorOf(error: unknown): NonNullable<RunResult['error']> {
  if (isBridleError(error)) {
    return { code: error.code, message: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
  }
  return { code: 'run_not_started', message: error instanceof Error ? error.message : String(error) };
}
