import type { CallOutcomeRecord, IntentRecord, Json, LoopEvent, RunBegun, TraceEvent } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import { isObject } from '../blocks.ts';

/** What the records say of one call since it was last given out. */
export interface CallRecords {
  /** It was about to run. `at`: Unix ms. */
  readonly decided?: { readonly at: number; readonly intent: IntentRecord };
  /** It was over. */
  readonly ended?: CallOutcomeRecord;
}

/** The last run of a journal, which has not ended. */
export interface RunSegment {
  /** Absent in journals of before runs said what they begin with. */
  readonly begun?: RunBegun;
  readonly conversation?: string;
  readonly input: Json;
  /** Of the loop, from the notes before the input on, in order. */
  readonly events: readonly LoopEvent[];
  /** By call. */
  readonly records: ReadonlyMap<string, CallRecords>;
  /** Everything before this run. */
  readonly earlier: readonly TraceEvent[];
  /** When the last line was written, Unix ms. */
  readonly lastAt: number;
}

/**
 * Finds the run that a journal breaks off in.
 *
 * @throws BridleError `run_not_begun`, `run_ended`
 */
export async function openSegment(journal: AsyncIterable<TraceEvent> | Iterable<TraceEvent>): Promise<RunSegment> {
  const all: TraceEvent[] = [];
  let start = 0;
  let end: string | null = null;
  let hasInput = false;
  for await (const event of journal) {
    // A run of an older journal begins with its input.
    if (event.type === 'begin' || (event.type === 'input' && (hasInput || end !== null))) {
      start = all.length;
      end = null;
      hasInput = false;
    }
    if (event.type === 'input') hasInput = true;
    if (event.type === 'end') end = event.how;
    all.push(event);
  }
  if (end !== null) {
    throw new BridleError('run_ended', `There is nothing to resume: the run has ended (${end}).`, {
      hint: 'Give what comes next as another run of the same conversation.',
    });
  }
  const own = all.slice(start);
  const input = own.find((event) => event.type === 'input');
  if (input === undefined) {
    throw new BridleError(
      'run_not_begun',
      'There is nothing to resume: the run broke off before its input was written.',
      {
        hint: 'It has made no call that could have changed anything. Begin it anew.',
      },
    );
  }
  const begun = own.find((event) => event.type === 'begin');
  const records = recordsOf(own);
  const conversation = begun?.conversation ?? conversationOf(records);
  return {
    input: input.content,
    events: own.filter((event): event is LoopEvent => isLoopEvent(event) && event.type !== 'begin'),
    records,
    earlier: all.slice(0, start),
    lastAt: all.at(-1)?.at ?? 0,
    ...(begun !== undefined && { begun }),
    ...(conversation !== undefined && { conversation }),
  };
}

function recordsOf(events: readonly TraceEvent[]): ReadonlyMap<string, CallRecords> {
  const records = new Map<string, CallRecords>();
  for (const event of events) {
    if (event.type === 'decided') {
      const { at, intent } = event;
      records.set(intent.callId, { ...records.get(intent.callId), decided: { at, intent } });
    } else if (event.type === 'call') {
      records.set(event.call.callId, { ...records.get(event.call.callId), ended: event.call });
    } else if (event.type === 'resume') {
      // What was known of these when it was settled that they are given out again says nothing of what came then.
      for (const id of event.again) records.delete(id);
    }
  }
  return records;
}

function conversationOf(records: ReadonlyMap<string, CallRecords>): string | undefined {
  for (const { decided, ended } of records.values()) {
    const conversation = decided?.intent.conversation ?? ended?.conversation;
    if (conversation !== undefined) return conversation;
  }
  return undefined;
}

function isLoopEvent(event: TraceEvent): event is LoopEvent {
  switch (event.type) {
    case 'run':
    case 'decided':
    case 'call':
    case 'question':
    case 'hook':
    case 'end':
      return false;
    default:
      return true;
  }
}

/** Whether the run searched for deferred tools. */
export function wasSearched({ begun }: RunSegment): boolean {
  return isObject(begun?.config) && isObject(begun.config.search);
}
