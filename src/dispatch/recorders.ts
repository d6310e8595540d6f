import type { CallOutcomeRecord, IntentRecord, Recorder } from '../contracts/index.ts';

/** Keeps nothing. */
export function nullRecorder(): Recorder {
  return { intent: async () => {}, outcome: () => {} };
}

export interface MemoryRecorder extends Recorder {
  readonly intents: readonly IntentRecord[];
  readonly outcomes: readonly CallOutcomeRecord[];
}

/** Keeps everything in memory, in order, for as long as the recorder lives: for tests and short programs. */
export function memoryRecorder(): MemoryRecorder {
  const intents: IntentRecord[] = [];
  const outcomes: CallOutcomeRecord[] = [];
  return {
    intents,
    outcomes,
    intent: async (record) => {
      intents.push(record);
    },
    outcome: (record) => {
      outcomes.push(record);
    },
  };
}
