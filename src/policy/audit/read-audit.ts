import { globMatches } from '../glob.ts';
import type { AuditLogs } from './audit-logs.ts';
import type { AuditedCall, AuditedEnd, AuditedQuestion, AuditRecord } from './audit-record.ts';
import { isShowable } from './is-showable.ts';

/** Most questions told of one call: what a server asks without end is not to fill memory. Every one has its record. */
const MOST_QUESTIONS = 100;

/** One call, put together from its records. */
export interface AuditRow {
  readonly writer: string;
  /** Number of the record that the call was first told by. */
  readonly seq: number;
  /** When that was written, Unix milliseconds. */
  readonly at: number;
  readonly call: AuditedCall;
  /** Absent: it runs, or its writer was killed before it was known how it ended. */
  readonly end?: AuditedEnd;
  /** What its server asked in the middle of it, in the order of the answers, the first 100; absent when it asked nothing. */
  readonly questions?: readonly AuditedQuestion[];
  /** How many more it asked; absent when that is all. */
  readonly moreQuestions?: number;
}

export interface AuditFilter {
  readonly agent?: string;
  /** Wire name; `*` stands for any characters. */
  readonly tool?: string;
  /** As in `AuditedEnd.outcome`, or `unknown` for calls without an end. */
  readonly outcome?: string;
  /** Unix milliseconds, by the record's time: from, and up to but without. */
  readonly since?: number;
  readonly until?: number;
}

/**
 * The calls of every chain, chain by chain in the order of the writers' names, which is that of their beginning. Torn and
 * unreadable parts end a chain, and what is no record of an audit is passed over; `verifyAudit` tells them.
 *
 * @param onUnreadable is told what of a chain could not be read
 */
export async function* readAudit(
  logs: AuditLogs,
  filter: AuditFilter = {},
  onUnreadable?: (writer: string, why: string) => void,
): AsyncGenerator<AuditRow, void> {
  for (const writer of await logs.writers()) {
    const open = new Map<number, AuditRow>();
    const rows: AuditRow[] = [];
    const questions = new Map<string, { readonly first: AuditedQuestion[]; more: number }>();
    const keep = (row: AuditRow) => {
      if (matches(row, filter)) rows.push(row);
    };
    try {
      for await (const { seq, record } of logs.log(writer).read(1)) {
        if (!isShowable(record)) {
          onUnreadable?.(writer, `record ${seq} is none of an audit`);
          continue;
        }
        if (record.type === 'question') {
          const key = callKey(record.question);
          const asked = questions.get(key) ?? { first: [], more: 0 };
          questions.set(key, asked);
          if (asked.first.length < MOST_QUESTIONS) asked.first.push(record.question);
          else asked.more += 1;
          continue;
        }
        const row = rowOf(record);
        if (record.type === 'intent' && row) open.set(record.seq, row);
        else if (row) keep(row);
        else if (record.type === 'end') {
          const intent = open.get(record.intent);
          open.delete(record.intent);
          if (intent) keep({ ...intent, end: record.end });
        }
      }
    } catch (error) {
      onUnreadable?.(writer, error instanceof Error ? error.message : String(error));
    }
    for (const row of open.values()) keep(row);
    for (const row of rows.sort((a, b) => a.seq - b.seq)) {
      const asked = questions.get(callKey(row.call));
      yield asked ? { ...row, questions: asked.first, ...(asked.more > 0 && { moreQuestions: asked.more }) } : row;
    }
  }
}

/** Ids of calls are unique in their conversation only. */
function callKey({ conversation, id }: { readonly conversation: string; readonly id: string }): string {
  return JSON.stringify([conversation, id]);
}

function rowOf(record: AuditRecord): AuditRow | undefined {
  const { writer, seq, at } = record;
  if (record.type === 'intent') return { writer, seq, at, call: record.call };
  if (record.type === 'call') return { writer, seq, at, call: record.call, end: record.end };
  return undefined;
}

function matches({ at, call, end }: AuditRow, { agent, tool, outcome, since, until }: AuditFilter): boolean {
  return (
    (agent === undefined || call.who.agent === agent) &&
    (tool === undefined || globMatches(tool, call.name)) &&
    (outcome === undefined || outcome === (end?.outcome ?? 'unknown')) &&
    (since === undefined || at >= since) &&
    (until === undefined || at < until)
  );
}
