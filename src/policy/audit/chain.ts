import type { Json } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import type { AuditEntry, AuditHead, AuditRecord } from './audit-record.ts';

/** Stands as `prev` in the first record of a writer. */
const AUDIT_ROOT = '0'.repeat(64);

export function startOf(writer: string): AuditHead {
  return { writer, seq: 0, hash: AUDIT_ROOT, at: 0 };
}

/** The record that follows `head`. */
export function linked(head: AuditHead, at: number, entry: AuditEntry): AuditRecord {
  // Through JSON, so that what is hashed is what a reader will have: without members that are undefined.
  const open = JSON.parse(
    JSON.stringify({ v: 1, writer: head.writer, seq: head.seq + 1, at, prev: head.hash, ...entry }),
  ) as Json;
  return { ...(open as object), hash: sha256(canonicalJson(open)) } as AuditRecord;
}

export function headOf({ writer, seq, hash, at }: AuditRecord): AuditHead {
  return { writer, seq, hash, at };
}

/** What is wrong with a record as the one after `head`; undefined when nothing is. */
export function breakAt(head: AuditHead, record: AuditRecord): string | undefined {
  const { hash, ...rest } = record;
  if (record.writer !== head.writer) return `it says that it is of writer "${record.writer}"`;
  if (record.seq !== head.seq + 1) return `it has number ${record.seq}`;
  if (record.prev !== head.hash) return 'it does not follow the record before it';
  if (hash !== sha256(canonicalJson(rest as unknown as Json))) return 'it was changed after it was written';
  return undefined;
}
