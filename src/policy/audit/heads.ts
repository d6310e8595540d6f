import { BridleError } from '../../tools/index.ts';
import type { AuditLogs } from './audit-logs.ts';
import type { AuditHead } from './audit-record.ts';
import { breakAt, headOf } from './chain.ts';

/** What is exported: the last record of every chain. To be kept where whoever writes the audit can't change it. */
export interface AuditHeads {
  readonly v: 1;
  /** Unix milliseconds. */
  readonly at: number;
  readonly heads: readonly AuditHead[];
  /** Chains whose last record is none: their heads are of the last one before it that holds, if there is one. */
  readonly problems?: readonly { readonly writer: string; readonly text: string }[];
}

/** The last record of every chain, as far as it can be read. What can't is said, and costs no other chain its head. */
export async function auditHeads(logs: AuditLogs): Promise<AuditHeads> {
  const heads: AuditHead[] = [];
  const problems: { readonly writer: string; readonly text: string }[] = [];
  for (const writer of await logs.writers()) {
    const { head, problem } = await lastOf(logs, writer);
    if (head) heads.push(head);
    if (problem !== undefined) problems.push({ writer, text: problem });
  }
  return { v: 1, at: Date.now(), heads, ...(problems.length > 0 && { problems }) };
}

interface Last {
  readonly head?: AuditHead;
  readonly problem?: string;
}

async function lastOf(logs: AuditLogs, writer: string): Promise<Last> {
  let from: number;
  try {
    const last = (await logs.segments(writer)).at(-1);
    if (!last) return {};
    from = last.last;
  } catch (error) {
    return { problem: `Its files can't be read: ${messageOf(error)}` };
  }
  const found = await lastFrom(logs, writer, from);
  if (found.problem === undefined) return found;
  // From its beginning, to the last one that holds.
  const { head } = await lastFrom(logs, writer, 1);
  return { ...(head && { head }), problem: found.problem };
}

/** The last record from a number on, or the last one before the first that isn't what it should be. */
async function lastFrom(logs: AuditLogs, writer: string, from: number): Promise<Last> {
  let head: AuditHead | undefined;
  let next = from;
  try {
    for await (const { seq, record } of logs.log(writer).read(from)) {
      next = seq + 1;
      const broken = breakAt(head ?? { writer, seq: seq - 1, hash: record.prev, at: 0 }, record);
      if (broken !== undefined) return { ...(head && { head }), problem: `Record ${seq} doesn't hold: ${broken}.` };
      head = headOf(record);
    }
  } catch (error) {
    return { ...(head && { head }), problem: `Record ${next} can't be read: ${messageOf(error)}` };
  }
  return head ? { head } : {};
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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
