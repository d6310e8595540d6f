import type { HookRecord, Recorder } from '../contracts/index.ts';
import type { AgentOptions, RunOptions } from './agent-options.ts';

/** Whoever is to know of hooks: those who watch the agent, and those who watch the run that goes on in a conversation. */
export interface HookListeners {
  /** Whoever watches a run hears what happens in its conversation until this is called. */
  during(conversation: string, run: Pick<RunOptions, 'onProgress' | 'trace'>): () => void;
  /** What hooks have to say to whoever watches. Never throws. */
  tell(conversation: string, text: string): void;
  /** How a hook went. Never throws. */
  record(record: HookRecord): void;
}

export function hookListeners(agent: Pick<AgentOptions, 'onProgress' | 'recorder' | 'trace'>): HookListeners {
  const runs = new Map<string, Pick<RunOptions, 'onProgress' | 'trace'>>();
  return {
    during(conversation, run) {
      runs.set(conversation, run);
      return () => {
        if (runs.get(conversation) === run) runs.delete(conversation);
      };
    },
    tell(conversation, text) {
      for (const { onProgress } of [agent, runs.get(conversation) ?? {}])
        quietly(() => onProgress?.({ type: 'hook', text }));
    },
    record(record) {
      const recorders: readonly (Recorder | undefined)[] = [
        agent.recorder,
        runs.get(record.conversation)?.trace ?? agent.trace,
      ];
      for (const recorder of recorders) quietly(() => recorder?.hook?.(record));
    },
  };
}

/** Whoever watches has no say in what happens. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // As above.
  }
}
