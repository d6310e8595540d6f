import type { StoreLog } from '../../contracts/index.ts';
import type { AuditAnchor } from './anchor.ts';
import type { AuditRecord } from './audit-record.ts';

/** Where the chains of all writers are; `openLogFolder` of `bridle/store` gives one. */
export interface AuditLogs {
  writers(): Promise<readonly string[]>;
  log(writer: string): StoreLog<AuditRecord>;
  segments(
    writer: string,
  ): Promise<readonly { readonly first: number; readonly last: number; readonly torn: number }[]>;
  drop(writer: string, upTo: number): Promise<void>;
}

/** Where anchors are: another folder of the same kind. */
export interface AnchorLogs {
  writers(): Promise<readonly string[]>;
  log(writer: string): StoreLog<AuditAnchor>;
}

/**
 * The newest anchor of each writer, signed or not.
 *
 * @param onUnreadable told which file of anchors can't be read to its end, and why; absent: that is thrown
 */
export async function anchorsOf(
  anchors: AnchorLogs,
  onUnreadable?: (who: string, why: string) => void,
): Promise<ReadonlyMap<string, AuditAnchor>> {
  const newest = new Map<string, AuditAnchor>();
  for (const who of await anchors.writers()) {
    try {
      for await (const { record } of anchors.log(who).read(1)) {
        if (record.seq > (newest.get(record.writer)?.seq ?? 0)) newest.set(record.writer, record);
      }
    } catch (error) {
      if (!onUnreadable) throw error;
      onUnreadable(who, error instanceof Error ? error.message : String(error));
    }
  }
  return newest;
}
