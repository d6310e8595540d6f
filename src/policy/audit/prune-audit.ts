import { isSigned, signedAnchor } from './anchor.ts';
import { type AnchorLogs, type AuditLogs, anchorsOf } from './audit-logs.ts';
import type { AuditRecord } from './audit-record.ts';
import { breakAt, headOf, startOf } from './chain.ts';
import { type AuditOpener, openerIn } from './writer-state.ts';

export interface PruneOptions {
  readonly logs: AuditLogs;
  readonly anchors: AnchorLogs;
  /** The name under which this process writes anchors. */
  readonly writer: string;
  readonly key: Uint8Array;
  /** Records from before this moment go, Unix milliseconds. */
  readonly before: number;
  /** Whether the process that opened a chain may still be writing it. */
  isRunning(opened: AuditOpener): boolean;
  /** Only say what would be removed. */
  readonly dryRun?: boolean;
}

export interface Pruned {
  readonly writer: string;
  /** Records up to this number. */
  readonly upTo: number;
  readonly records: number;
}

export interface PruneReport {
  readonly pruned: readonly Pruned[];
  /** Chains that don't hold are left as they are: removing a part would hide what is wrong. */
  readonly broken: readonly string[];
}

/**
 * Removes old records, whole files at a time, and leaves a signed anchor for each chain that lost some, so that the rest
 * still verifies. The anchor is on disk before anything goes.
 */
export async function pruneAudit(options: PruneOptions): Promise<PruneReport> {
  const anchors = await anchorsOf(options.anchors);
  const pruned: Pruned[] = [];
  const broken: string[] = [];
  for (const writer of await options.logs.writers()) {
    const anchor = anchors.get(writer);
    // Going on from one that somebody made up would sign away what it hides.
    if (anchor && !isSigned(anchor, options.key)) {
      broken.push(writer);
      continue;
    }
    const found = await oldPart(writer, anchor ?? startOf(writer), anchor?.opened, options);
    if (found === 'broken') broken.push(writer);
    else if (found !== undefined) {
      const { last, opened } = found;
      const records = last.seq - (anchor?.seq ?? 0);
      pruned.push({ writer, upTo: last.seq, records });
      if (options.dryRun) continue;
      const stands = { records: last.seq, prunedAt: Date.now(), ...(opened && { opened }) };
      const before = signedAnchor({ v: 1, ...headOf(last), ...stands }, options.key);
      await options.anchors.log(options.writer).append([before], true);
      await options.logs.drop(writer, last.seq);
    }
  }
  return { pruned, broken };
}

/** The last record of the last whole file that has only records from before. */
async function oldPart(
  writer: string,
  start: ReturnType<typeof startOf>,
  known: AuditOpener | undefined,
  { logs, before, isRunning }: PruneOptions,
): Promise<{ readonly last: AuditRecord; readonly opened: AuditOpener | undefined } | 'broken' | undefined> {
  let found: AuditRecord | undefined;
  let opened = known;
  let head = { writer, seq: start.seq, hash: start.hash, at: start.at };
  try {
    const segments = await logs.segments(writer);
    const ends = new Set(segments.map(({ last }) => last));
    const end = segments.at(-1)?.last ?? 0;
    for await (const { seq, record } of logs.log(writer).read(1)) {
      opened ??= openerIn(record);
      if (seq <= start.seq) continue;
      if (breakAt(head, record) !== undefined) return 'broken';
      if (record.at >= before) break;
      head = headOf(record);
      const isDone = seq !== end || record.type === 'closed' || (opened !== undefined && !isRunning(opened));
      if (ends.has(seq) && isDone) found = record;
    }
  } catch {
    return 'broken';
  }
  return found && { last: found, opened };
}
