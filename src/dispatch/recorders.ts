import type {
  CallOutcomeRecord,
  IntentRecord,
  ListRecord,
  Recorder,
  RunFollower,
  TraceContext,
} from '../contracts/index.ts';
import { quietly } from './quietly.ts';

const NOTHING: Recorder = Object.freeze({ intent: async () => {}, outcome: () => {} });

/** Keeps nothing. */
export function nullRecorder(): Recorder {
  return NOTHING;
}

/** Whether this is the recorder that keeps nothing: no record has to be made for it. */
export function recordsNothing(recorder: Recorder): boolean {
  return recorder === NOTHING;
}

/**
 * One recorder of several. An intent is recorded when all have it, so what one of them can't record doesn't run;
 * everything else reaches each of them, whatever the others do with it.
 */
export function allRecorders(...recorders: readonly (Recorder | undefined)[]): Recorder {
  const all = recorders.filter((each) => each !== undefined);
  return {
    async intent(record) {
      await Promise.all(all.map((each) => each.intent(record)));
    },
    outcome(record) {
      for (const each of all) quietly(() => each.outcome(record));
    },
    trace(call) {
      let found: TraceContext | undefined;
      // Each is asked, since each may begin a span of its own; a call has one parent, the first one's.
      for (const each of all) {
        quietly(() => {
          const own = each.trace?.(call);
          found ??= own;
        });
      }
      return found;
    },
    question(record) {
      for (const each of all) quietly(() => each.question?.(record));
    },
    hook(record) {
      for (const each of all) quietly(() => each.hook?.(record));
    },
    // Whoever tells of a list first sees whether anybody wants to know.
    ...(all.some(({ listed }) => listed) && {
      listed(record: ListRecord) {
        for (const each of all) quietly(() => each.listed?.(record));
      },
    }),
    declared(record) {
      for (const each of all) quietly(() => each.declared?.(record));
    },
    run(record) {
      const followers: RunFollower[] = [];
      for (const each of all) {
        quietly(() => {
          const follower = each.run?.(record);
          if (follower) followers.push(follower);
        });
      }
      return {
        event(event) {
          for (const each of followers) quietly(() => each.event(event));
        },
        end(how, detail) {
          for (const each of followers) quietly(() => each.end(how, detail));
        },
      };
    },
  };
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
