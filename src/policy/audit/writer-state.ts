import { type AuditAnchor, isSigned } from './anchor.ts';
import type { AuditLogs } from './audit-logs.ts';

/** Which process began a chain. */
export interface AuditOpener {
  readonly host: string;
  readonly pid: number;
}

/**
 * Whether somebody may still write a chain: `closed` says the chain itself, `running` and `ended` the process that began
 * it. `elsewhere`: that one was begun on another machine, of whose processes nobody here knows. `unknown`: the record that
 * names the process can't be read. Of these two nothing is to be cut or removed at the end.
 */
export type WriterState =
  | { readonly state: 'closed' | 'running' | 'ended' | 'unknown' }
  | { readonly state: 'elsewhere'; readonly host: string };

/**
 * @param anchor the newest of the writer: it names the process where the chain's beginning was pruned
 * @param host the machine that this is
 * @param isRunning whether a process of this machine may still be there
 */
export async function writerState(
  logs: AuditLogs,
  writer: string,
  anchor: AuditAnchor | undefined,
  {
    key,
    host,
    isRunning,
  }: { readonly key: Uint8Array; readonly host: string; isRunning(opener: AuditOpener): boolean },
): Promise<WriterState> {
  let opener = anchor && isSigned(anchor, key) ? anchor.opened : undefined;
  let isClosed = false;
  try {
    for await (const { record } of logs.log(writer).read(1)) {
      opener ??= openerIn(record);
      isClosed = record.type === 'closed';
    }
  } catch {
    // What follows is unknown, a record of its end among it.
    isClosed = false;
  }
  if (isClosed) return { state: 'closed' };
  if (opener === undefined) return { state: 'unknown' };
  if (opener.host !== host) return { state: 'elsewhere', host: opener.host };
  return { state: isRunning(opener) ? 'running' : 'ended' };
}

/** Who began the chain, where a record says so in the right shape: files are edited. */
export function openerIn(record: object): AuditOpener | undefined {
  const { type, host, pid } = record as { readonly type?: unknown; readonly host?: unknown; readonly pid?: unknown };
  if (type !== 'opened' || typeof host !== 'string') return undefined;
  return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 ? { host, pid } : undefined;
}
