import { randomUUID } from 'node:crypto';
import { createCatalog } from '../catalog/index.ts';
import type { Identity, Json } from '../contracts/index.ts';
import { createResultStore, idempotencyLedger } from '../dispatch/index.ts';
import { resolveModel } from '../models/index.ts';
import { withHooks } from '../policy/index.ts';
import { memoryStore } from '../store/index.ts';
import { functionSource } from '../tools/index.ts';
import { checkLimits } from './agent-checks.ts';
import { agentHooks, hookSetOf } from './agent-hooks.ts';
import type { Agent, AgentOptions, RunOptions } from './agent-options.ts';
import { agentPolicy, askerOf } from './agent-policy.ts';
import { loopContext } from './context.ts';
import { conversationOf } from './conversation.ts';
import { deferredRun } from './deferred-run.ts';
import { hookListeners } from './hook-listeners.ts';
import { readerTool } from './loop-tools.ts';
import { providerTools } from './provider-tools.ts';
import { claimJournal, useJournal } from './resume/journal-use.ts';
import type { ResumableJournal, ResumeOptions } from './resume/resume-options.ts';
import { openSegment } from './resume/run-segment.ts';
import { failedRun, type Run } from './run.ts';
import { errorOf } from './end-detail.ts';
import { runStarter } from './start-of-run.ts';
import { readySubagents, subagentWarnings } from './subagents/subagent.ts';
import { subagentsOf } from './subagents/subagents.ts';

/**
 * Makes an agent: a model, the tools it may use, and the rules for them.
 *
 * @example
 * const agent = await createAgent({ model: 'offline', tools: [lookUp], permissions: { allow: ['look_up'] } });
 * const { end, text } = await agent.run('Look up ticket 7.').result;
 *
 * @throws BridleError `model_unknown` and the other codes of `resolveModel`; `permissions_invalid`, `limits_invalid`,
 *   `tool_name_taken`, `tool_choice_unknown`, `tool_choice_invalid`, `tool_choice_never_ends`, `siblings_invalid`,
 *   `strict_invalid`, `cost_unknown`, `context_invalid`, `subagent_invalid`, `provider_tool_invalid`
 */
export async function createAgent(options: AgentOptions): Promise<Agent> {
  const model = typeof options.model === 'string' ? await resolveModel(options.model) : options.model;
  checkLimits(options.limits, model);
  if (options.context !== undefined) loopContext(options.context);
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
  const basePolicy = await agentPolicy(options, reader.tool);
  const policy = withHooks(basePolicy, hooks.guards);
  const asker = askerOf(options);
  const provided = await providerTools(options.providerTools ?? [], { model, who, policy, asker });
  const agents = await readySubagents(options.subagents ?? [], { name: who.agent, model, limits: options.limits });
  const subagents = agents.length > 0 ? subagentsOf(agents, () => works) : undefined;
  const own = options.tools === undefined ? [] : [functionSource(options.tools)];
  const catalog = createCatalog({
    sources: [...own, ...(options.sources ?? []), ...(subagents ? [subagents.source] : [])],
    policy,
    ...(options.views && { views: options.views }),
  });
  await (options.ready ? catalog.ready({ ...options.ready, signal: options.signal }) : catalog.refresh(options.signal));

  const running = new Set<Run>();
  let isClosed = false;
  const parts = { options, model, who, policy, catalog, hooks, reader, results, idempotency };
  const works = { parts: { ...parts, basePolicy, hookSet, listeners }, isClosed: () => isClosed, start: runStarter };
  const starter = runStarter({ ...parts, provided, ...(subagents && { subagents }), isClosed: () => isClosed });

  /** Hooks on the input first, where there are any: a run without them starts at once. */
  const hooked = async (input: string | Json[], runOptions: RunOptions, conversation: string, signal: AbortSignal) => {
    const before = runOptions.messages ?? [];
    try {
      const said = await hooks.submit(conversation, input, before.length > 0, signal);
      const notes = said.kind === 'sent' ? said.notes : [];
      // One that was stopped meanwhile ends as that, whatever a hook made of it.
      if (said.kind === 'sent' || signal.aborted) {
        return starter.begin(input, { ...runOptions, signal }, conversation, notes);
      }
      return failedRun(said.error, before, conversation);
    } catch (error) {
      return failedRun(errorOf(error), before, conversation);
    }
  };
  const run = (input: string | Json[], runOptions: RunOptions = {}): Run => {
    const conversation = runOptions.conversation ?? randomUUID();
    const leave = listeners.during(conversation, runOptions);
    const trace = runOptions.trace ?? options.trace;
    const letGo = trace && useJournal(trace);
    const hasHooks = INPUT_HOOKS.some((event) => hookSet.has(event));
    const started = hasHooks
      ? deferredRun((signal) => hooked(input, runOptions, conversation, signal), runOptions.signal)
      : starter.begin(input, runOptions, conversation);
    running.add(started);
    void started.result.then(() => {
      leave();
      letGo?.();
      running.delete(started);
    });
    return started;
  };

  const resumed = async (journal: ResumableJournal, resumeOptions: ResumeOptions): Promise<Run> => {
    let conversation: string = randomUUID();
    const undo: (() => void)[] = [];
    const leave = () => {
      for (const each of undo) each();
    };
    try {
      undo.push(claimJournal(journal));
      const segment = await openSegment(journal.events());
      conversation = segment.conversation ?? conversation;
      undo.push(listeners.during(conversation, { ...resumeOptions, trace: journal }));
      const goesOn = await starter.resume(segment, journal, resumeOptions, conversation);
      void goesOn.result.then(leave);
      return goesOn;
    } catch (error) {
      leave();
      return failedRun(errorOf(error), [], conversation);
    }
  };

  return {
    name: who.agent,
    model,
    catalog,
    run,
    resume(journal, resumeOptions = {}) {
      const started = deferredRun((signal) => resumed(journal, { ...resumeOptions, signal }), resumeOptions.signal);
      running.add(started);
      void started.result.then(() => running.delete(started));
      return started;
    },
    conversation: (start = {}) => conversationOf(run, start.id ?? randomUUID(), start.messages ?? []),
    tools: () => catalog.list(who),
    strictTools: () => starter.strict(),
    warnings: () => [...provided.warnings, ...subagentWarnings(agents, catalog.list(who))],
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
