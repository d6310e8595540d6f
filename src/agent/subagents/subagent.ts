import type { Model, ParentCall, Reason, ToolDefinition } from '../../contracts/index.ts';
import { resolveModel } from '../../models/index.ts';
import { restrictionProblems, restrictionUnused } from '../../policy/index.ts';
import { BridleError, printable } from '../../tools/index.ts';
import { checkLimits } from '../agent-checks.ts';
import type { RunJournal } from '../agent-options.ts';
import type { RunLimits } from '../limits.ts';
import { startTool } from './start-tool.ts';

/** An agent that another one may start on a task, by calling the tool `start_NAME`. */
export interface Subagent {
  /** As rules and records name it; letters, digits, `_` and `-`, at most 48 characters. */
  readonly name: string;
  /** For the model that may start it: what it is good for, and what its task has to say. */
  readonly description: string;
  /** Its system prompt. */
  readonly instructions: string;
  /**
   * Which tools of the agent that starts it it may use, named as in allow rules: `get_order`, `mcp__docs`,
   * `mcp__docs__get_*`; `['*']` is all of them. The rules of that agent hold for it too. Default: none, with a warning.
   */
  readonly tools?: readonly string[];
  /** Taken away again, named as in deny rules. */
  readonly except?: readonly string[];
  /** Default: that of the agent that starts it. */
  readonly model?: Model | string;
  /** `plan`: only tools that are known to read. `dontAsk`: what somebody would be asked about is denied. */
  readonly mode?: 'plan' | 'dontAsk';
  /**
   * Of each run of it. Default 25 turns and 10 minutes, the others as for any run. What is left of the starting run's
   * tokens and dollars is a limit as well.
   */
  readonly limits?: RunLimits;
  /** Most characters of its answer that the other model is shown; it can read on in a longer one. Default 20,000. */
  readonly maxResultChars?: number;
}

/** What is known of a run of a subagent when it begins. */
export interface SubagentStart {
  readonly agent: string;
  /** As in `Model.id`. */
  readonly model: string;
  readonly task: string;
  readonly conversation: string;
  /** The call that starts it. */
  readonly parent: ParentCall;
}

/** Gives the journal of a run of a subagent, or none; it is closed when that run is over. */
export type SubagentTrace = (
  start: SubagentStart,
) => SubagentJournal | undefined | Promise<SubagentJournal | undefined>;

type SubagentJournal = RunJournal & { close?(): Promise<void> };

/** One that can be started. */
export interface ReadySubagent extends Omit<Subagent, 'model'> {
  readonly model: Model;
  readonly tool: ToolDefinition;
  readonly limits: RunLimits;
  readonly maxResultChars: number;
}

const DEFAULT_LIMITS: RunLimits = { turns: 25, ms: 600_000 };
const NAME = /^[A-Za-z0-9_-]{1,48}$/;

/**
 * @param model of the agent that may start them
 * @param limits of that agent: its dollars can only be counted where the price of every model is known
 * @throws BridleError `subagent_invalid`, `limits_invalid`, `cost_unknown`, and the codes of `resolveModel`
 */
export async function readySubagents(
  agents: readonly Subagent[],
  {
    name: starter,
    model,
    limits,
  }: { readonly name: string; readonly model: Model; readonly limits?: RunLimits | undefined },
): Promise<readonly ReadySubagent[]> {
  const names = new Set([starter]);
  const ready: ReadySubagent[] = [];
  for (const agent of agents) {
    const wrong = problemOf(agent, names);
    if (wrong !== undefined) {
      throw new BridleError('subagent_invalid', `The agent "${printable(String(agent.name))}" ${wrong}.`, {
        hint: 'Give each of `subagents` a name of its own, a description and instructions.',
      });
    }
    names.add(agent.name);
    const own = agent.model ?? model;
    const resolved = typeof own === 'string' ? await resolveModel(own) : own;
    checkLimits(agent.limits, resolved);
    if (limits?.costUsd !== undefined) checkLimits({ costUsd: limits.costUsd }, resolved);
    ready.push({
      ...agent,
      model: resolved,
      tool: startTool(agent),
      limits: { ...DEFAULT_LIMITS, ...agent.limits },
      maxResultChars: agent.maxResultChars ?? 20_000,
    });
  }
  return ready;
}

function problemOf({ name, description, instructions, maxResultChars }: Subagent, names: Set<string>) {
  if (typeof name !== 'string' || !NAME.test(name)) return 'needs a name of 1 to 48 letters, digits, "_" and "-"';
  if (names.has(name)) return 'has a name that another agent has already';
  if (typeof description !== 'string' || description.trim() === '') return 'has no description';
  if (typeof instructions !== 'string') return 'has no instructions';
  if (maxResultChars !== undefined && !(maxResultChars > 0)) return 'has a maxResultChars that is no number above zero';
  return undefined;
}

/** What is odd about the agents' tools, for whoever set them up. */
export function subagentWarnings(
  agents: readonly Pick<Subagent, 'name' | 'tools' | 'except'>[],
  tools: readonly ToolDefinition[],
): readonly Reason[] {
  return agents.flatMap(({ name, tools: named = [], except = [] }) => {
    const say = (code: string, text: string): Reason => ({ room: 'agent', code, text: `Agent "${name}": ${text}` });
    const bare = named.filter((pattern) => pattern !== '*' && !pattern.startsWith('mcp__') && isName(pattern));
    const missing = bare.filter((pattern) => !tools.some(({ ref }) => ref.server === null && ref.tool === pattern));
    return [
      ...(named.length === 0
        ? [say('agent_without_tools', "it has no tools. Name some in its `tools`, or write ['*'] for all.")]
        : []),
      ...[...restrictionProblems('named', named), ...restrictionProblems('except', except)].map(({ text }) =>
        say('agent_tool_name', text),
      ),
      ...[...missing, ...restrictionUnused('named', named, tools)].map((pattern) =>
        say('agent_tool_missing', `no tool is named "${pattern}".`),
      ),
    ];
  });
}

function isName(pattern: string): boolean {
  return /^[\w-]+$/.test(pattern);
}
