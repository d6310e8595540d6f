import type { CallOutcomeRecord, Recorder } from '../contracts/index.ts';

/** What the dispatcher recorded of the calls of one run, for whoever is told of a call once it is over. */
export interface CallRecords {
  readonly recorder: Recorder;
  /** The record of a call, once. */
  take(callId: string): CallOutcomeRecord | undefined;
}

export function callRecords(): CallRecords {
  const kept = new Map<string, CallOutcomeRecord>();
  return {
    recorder: {
      intent: async () => {},
      outcome: (record) => void kept.set(record.callId, record),
    },
    take(callId) {
      const record = kept.get(callId);
      // Its previews are calls of their own, and nobody asks about them.
      for (const id of kept.keys()) if (id === callId || id.startsWith(`${callId}.`)) kept.delete(id);
      return record;
    },
  };
}
