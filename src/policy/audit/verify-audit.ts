import { type AuditAnchor, isSigned } from './anchor.ts';
import { type AnchorLogs, type AuditLogs, anchorsOf } from './audit-logs.ts';
import type { AuditHead } from './audit-record.ts';
import { breakAt, headOf, startOf } from './chain.ts';

export interface AuditProblem {
  readonly code:
    | 'chain_broken'
    | 'record_unreadable'
    | 'head_missing'
    | 'head_differs'
    | 'anchor_not_signed'
    | 'anchor_not_checked'
    | 'anchor_unreadable'
    | 'records_lost';
  readonly writer: string;
  readonly seq: number;
  readonly text: string;
}

export interface VerifiedWriter {
  readonly writer: string;
  /** Records that are there and follow one another. */
  readonly records: number;
  /** Records that were removed on purpose, which an anchor stands for. */
  readonly pruned: number;
  /** The last record that holds; null when there is none. */
  readonly head: AuditHead | null;
  /** Whether its writer ended in order; else it was killed, or still runs. */
  readonly closed: boolean;
  /**
   * Bytes behind the last whole record: of a writer that was killed, or is just writing. No problem of the chain, unless it
   * was closed.
   */
  readonly torn: number;
}

export interface AuditVerification {
  readonly ok: boolean;
  readonly writers: readonly VerifiedWriter[];
  readonly problems: readonly AuditProblem[];
  /** Set when there was no key: the chains were checked, and not what is signed. */
  readonly withoutKey?: true;
}

export interface VerifyOptions {
  readonly logs: AuditLogs;
  readonly anchors: AnchorLogs;
  /** The key of the installation, which signed the anchors; absent where a copy of the audit came without it. */
  readonly key?: Uint8Array;
  /** Heads that were exported earlier and kept elsewhere: only they can show that the end of a chain is missing. */
  readonly heads?: readonly AuditHead[];
}

/**
 * Goes through every chain from its root or its anchor, and holds it against heads that were kept elsewhere.
 *
 * @returns everything that was found; nothing is thrown for what is wrong with a chain
 */
export async function verifyAudit(options: VerifyOptions): Promise<AuditVerification> {
  const problems: AuditProblem[] = [];
  const anchors = await anchorsOf(options.anchors, (writer, why) => {
    problems.push({ code: 'anchor_unreadable', writer, seq: 0, text: `Anchors that it wrote can't be read: ${why}` });
  });
  const writers: VerifiedWriter[] = [];
  const there = await options.logs.writers();
  const heads = new Map<string, AuditHead[]>();
  for (const head of options.heads ?? []) {
    const kept = heads.get(head.writer);
    if (kept) kept.push(head);
    else heads.set(head.writer, [head]);
  }
  for (const writer of [...new Set([...there, ...anchors.keys(), ...heads.keys()])].sort()) {
    const kept = heads.get(writer) ?? [];
    const anchor = anchors.get(writer);
    writers.push(await verifyWriter(writer, options, anchor, kept, problems));
  }
  return { ok: problems.length === 0, writers, problems, ...(!options.key && { withoutKey: true }) };
}

async function verifyWriter(
  writer: string,
  { logs, key }: VerifyOptions,
  anchor: AuditAnchor | undefined,
  kept: readonly AuditHead[],
  problems: AuditProblem[],
): Promise<VerifiedWriter> {
  const problem = (code: AuditProblem['code'], seq: number, text: string) =>
    void problems.push({ code, writer, seq, text });
  const isAnchored = anchor !== undefined && (!key || isSigned(anchor, key));
  const isVouchedFor = key || kept.some(({ seq, hash }) => seq === anchor?.seq && hash === anchor.hash);
  if (isAnchored && !isVouchedFor) {
    problem(
      'anchor_not_checked',
      anchor.seq,
      `${anchor.records} records were removed, and without the installation's key nobody can tell that it was on purpose.`,
    );
  }
  if (anchor && !isAnchored) {
    problem(
      'anchor_not_signed',
      anchor.seq,
      'The anchor that stands for its removed records is not of this installation.',
    );
  }
  const from = isAnchored ? anchor.seq : 0;
  let head: AuditHead = isAnchored ? { writer, seq: anchor.seq, hash: anchor.hash, at: anchor.at } : startOf(writer);
  let records = 0;
  let closed = false;
  const expected = new Map(kept.filter(({ seq }) => seq > from).map((one) => [one.seq, one.hash]));
  if (isAnchored && kept.some(({ seq, hash }) => seq === from && hash !== anchor.hash)) {
    problem('head_differs', from, `Record ${from} was another one when the heads were exported.`);
  }
  try {
    // What an anchor stands for may still be there, when its removal was broken off.
    for await (const { record } of logs.log(writer).read(from + 1)) {
      const broken = breakAt(head, record);
      if (broken !== undefined) {
        problem('chain_broken', head.seq + 1, `Record ${head.seq + 1} doesn't hold: ${broken}.`);
        break;
      }
      head = headOf(record);
      records += 1;
      closed = record.type === 'closed';
      if (record.type === 'lost')
        problem('records_lost', record.seq, `${record.records} records could not be written.`);
      const hash = expected.get(record.seq);
      expected.delete(record.seq);
      if (hash !== undefined && hash !== record.hash) {
        problem('head_differs', record.seq, `Record ${record.seq} was another one when the heads were exported.`);
      }
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    problem('record_unreadable', head.seq + 1, `Record ${head.seq + 1} can't be read: ${why}`);
  }
  for (const seq of expected.keys()) {
    problem(
      'head_missing',
      seq,
      `Record ${seq} was there when the heads were exported, and is not, or can't be reached.`,
    );
  }
  const torn = await tornBytes(logs, writer, (why) =>
    problem('record_unreadable', head.seq + 1, `Its files can't be read: ${why}`),
  );
  // Whoever closed a chain wrote nothing after that.
  if (closed && torn > 0)
    problem(
      'chain_broken',
      head.seq,
      `${torn} bytes stand behind a record, though its writer ended in order: they are not its own.`,
    );
  return { writer, records, pruned: isAnchored ? anchor.records : 0, head: head.seq === 0 ? null : head, closed, torn };
}

async function tornBytes(logs: AuditLogs, writer: string, onUnreadable: (why: string) => void): Promise<number> {
  try {
    return (await logs.segments(writer)).reduce((bytes, segment) => bytes + segment.torn, 0);
  } catch (error) {
    onUnreadable(error instanceof Error ? error.message : String(error));
    return 0;
  }
}
