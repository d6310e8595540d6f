import { BridleError } from '../../tools/index.ts';
import type { AuditLogs } from './audit-logs.ts';
import type { AuditHead } from './audit-record.ts';
import { headOf } from './chain.ts';

/** What is exported: the last record of every chain. To be kept where whoever writes the audit can't change it. */
export interface AuditHeads {
  readonly v: 1;
  /** Unix milliseconds. */
  readonly at: number;
  readonly heads: readonly AuditHead[];
}

/** The last record of every chain, as far as it can be read. */
export async function auditHeads(logs: AuditLogs): Promise<AuditHeads> {
  const heads: AuditHead[] = [];
  for (const writer of await logs.writers()) {
    const last = (await logs.segments(writer)).at(-1);
    if (!last) continue;
    for await (const { record } of logs.log(writer).read(last.last)) heads.push(headOf(record));
  }
  return { v: 1, at: Date.now(), heads };
}

/**
 * Reads exported heads.
 *
 * @throws BridleError `audit_heads_unreadable` when the text is something else
 */
export function readHeads(text: string, where: string): AuditHeads {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Said below.
  }
  if (isHeads(value)) return value;
  throw new BridleError('audit_heads_unreadable', `${where} holds no heads of an audit.`, {
    hint: "They are what 'bridle audit heads --json' prints.",
  });
}

function isHeads(value: unknown): value is AuditHeads {
  if (typeof value !== 'object' || value === null || !('v' in value) || value.v !== 1 || !('heads' in value))
    return false;
  return Array.isArray(value.heads) && value.heads.every(isHead);
}

function isHead(value: unknown): value is AuditHead {
  if (typeof value !== 'object' || value === null) return false;
  const { writer, seq, hash } = value as Partial<AuditHead>;
  return typeof writer === 'string' && Number.isSafeInteger(seq) && typeof hash === 'string';
}
