import type { Model, Reason } from '../contracts/index.ts';
import { costOf, modelFacts, modelTraits } from '../models/index.ts';
import type { AgentOptions, RunOptions } from './agent-options.ts';
import { ASK_USER } from './ask-user.ts';
import { planChoice, whyNotForced } from './choice-plan.ts';
import { loopContext } from './context.ts';
import type { LoopSearch } from './found-tools.ts';
import { effectiveLimits } from './limits.ts';
import { parallelWords } from './parallel-wish.ts';
import { siblingRules } from './siblings.ts';
import type { LoopConfig, LoopTool } from './state.ts';
import { outputFormatOf } from './structured-output.ts';
import { noteRoleOf } from './system-note.ts';
import { systemPrompt, UNTRUSTED_CONTENT_NOTICE } from './system-prompt.ts';

/** What is fixed for a run: the agent's options, this run's over them, and what is known of the model. One line each. */
export function loopConfig(
  options: AgentOptions,
  runOptions: RunOptions,
  model: Model,
  tools: readonly LoopTool[],
  search?: LoopSearch,
  strictNotices: readonly Reason[] = [],
): LoopConfig {
  const noteRole = options.noteRole ?? noteRoleOf(model.id);
  const notice = options.untrustedContentNotice ?? UNTRUSTED_CONTENT_NOTICE;
  const mostOut = modelFacts(model.id)?.maxOutput ?? Number.POSITIVE_INFINITY;
  const maxTokens = options.maxTokens ?? Math.min(8_192, mostOut);
  const system = systemPrompt(
    options.system,
    options.sourceNotes?.() ?? '',
    notice,
    parallelWords(options.parallelWish),
  );
  const output = runOptions.output ?? options.output;
  const limits = effectiveLimits({ ...options.limits, ...runOptions.limits });
  const wish = runOptions.toolChoice ?? options.toolChoice;
  const choice = planChoice(wish, tools, {
    noForce: whyNotForced(model),
    noParallel: options.parallelWish === 'off',
    turns: limits.turns,
  });
  const notices = [...choice.notices, ...strictNotices];
  return {
    tools,
    limits,
    maxTokens,
    maxTokensRetry: options.maxTokensRetry ?? Math.min(maxTokens * 4, mostOut),
    parallel: options.parallel ?? 8,
    noteRole,
    ...(noteRole === 'system' && noteRoleOf(model.id) === 'system' && { toolChanges: true }),
    siblings: siblingRules(options.siblings),
    ...(modelTraits(model.id)?.programmatic === false && { noCode: true }),
    costOf: (usage) => costOf(model.id, usage),
    ...(options.context !== undefined && { context: loopContext(options.context) }),
    ...(runOptions.container !== undefined && { container: runOptions.container }),
    ...(system !== undefined && { system }),
    ...(output !== undefined && { output: { format: outputFormatOf(output) } }),
    ...(options.answer !== undefined && { answer: { ...options.answer } }),
    ...(choice.plan !== undefined && { choice: choice.plan }),
    ...(notices.length > 0 && { notices }),
    ...(search !== undefined && { search }),
    ...(options.askUser === true && { askTool: ASK_USER }),
  };
}
