import type { Found, Json, Source } from '../../contracts/index.ts';
import { isObject } from '../blocks.ts';
import type { RunEvent } from '../events.ts';
import type { StartingRun, SubagentWorks } from './start-subagent.ts';
import { startSubagent } from './start-subagent.ts';
import { isStartTool } from './start-tool.ts';
import type { ReadySubagent } from './subagent.ts';

/** The agents that one agent may start. */
export interface Subagents {
  /** Lists the tools that start them; its calls only work by `during`. */
  readonly source: Source;
  /** By call, what has entered the runs that a conversation started. Remembered for as long as the agent lives. */
  labelsIn(conversation: string): Map<string, readonly string[]>;
  /** For one run: what is found under a tool's name, bound to that run. */
  during(run: Omit<StartingRun, 'emit'>): {
    found(found: Found | undefined): Found | undefined;
    listen(emit: StartingRun['emit']): void;
  };
}

/**
 * @param works given once it is known: what it holds is made of the catalog that these tools stand in
 */
export function subagentsOf(agents: readonly ReadySubagent[], works: () => SubagentWorks): Subagents {
  const byTool = new Map(agents.map((agent) => [agent.tool.ref.tool, agent]));
  // Each run of an agent has limits of its own, and is silent for as long as its model thinks.
  const longest = Math.max(...agents.map(({ limits }) => limits.ms ?? 0)) + END_MS;
  const base = {
    server: null,
    limits: {
      idleMs: longest,
      hardMs: longest,
      maxResultChars: Math.max(...agents.map((each) => each.maxResultChars)),
    },
    list: async () => ({ tools: agents.map(({ tool }) => tool), setAside: [] }),
    onChange: () => () => {},
  } as const;
  const labels = new Map<string, Map<string, readonly string[]>>();
  return {
    labelsIn(conversation) {
      const known = labels.get(conversation) ?? new Map<string, readonly string[]>();
      labels.delete(conversation);
      labels.set(conversation, known);
      for (const oldest of labels.keys()) {
        if (labels.size <= MOST_CONVERSATIONS) break;
        labels.delete(oldest);
      }
      return known;
    },
    source: {
      ...base,
      async call() {
        const message = 'An agent is started by a run of the agent that has it, and by nothing else.';
        const executed = 'not_executed';
        return {
          kind: 'failure',
          failure: { category: 'business', retryable: false, message, executed, attempts: [] },
        };
      },
    },
    during(run) {
      let emit: (event: RunEvent) => void = () => {};
      const bound = (agent: ReadySubagent): Source => ({
        ...base,
        limits: { ...base.limits, maxResultChars: agent.maxResultChars },
        call: (_tool, args, ctx) =>
          startSubagent(agent, taskOf(args), { works: works(), ctx, from: { ...run, emit: (event) => emit(event) } }),
      });
      return {
        listen(listener) {
          emit = listener;
        },
        found(found) {
          const tool = found && (found.tool.narrows?.of ?? found.tool);
          const agent = tool && isStartTool(tool) ? byTool.get(tool.ref.tool) : undefined;
          return found && agent ? { ...found, source: bound(agent) } : found;
        },
      };
    },
  };
}

/** Of one that was dropped nothing is known any more, and so anything may have entered it. */
const MOST_CONVERSATIONS = 1_000;
/** For the end of a run whose time is over. */
const END_MS = 30_000;

function taskOf(args: Json): string {
  return isObject(args) && typeof args.task === 'string' ? args.task : '';
}
