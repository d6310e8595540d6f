import type { Identity, Json, Outcome, Reason } from '../../contracts/index.ts';

/**
 * waiting → approved | denied | expired | void; approved → used | denied | expired | void; denied → approved | expired.
 * `used`, `expired` and `void` are the end.
 */
export type ApprovalState = 'waiting' | 'approved' | 'denied' | 'expired' | 'used' | 'void';

/** What an approval is for. It satisfies a call only when all of this is the same. */
export interface Binding {
  /** Where the call comes from, such as a project's folder: two places share no approval. */
  readonly place: string;
  readonly agent: string;
  readonly user: string | null;
  /** Null for a tool of the process itself. */
  readonly server: { readonly key: string; readonly fingerprint: string } | null;
  readonly tool: string;
  /** The fingerprint of the tool's definition. */
  readonly definition: string;
  /** Keyed digest of the canonical arguments. */
  readonly args: string;
  /** Keyed digest of the previewed facts; `none` where the tool has no preview, `unknown` where they couldn't be had. */
  readonly facts: string;
}

/** Times are Unix milliseconds. */
export interface ApprovalRecord {
  readonly v: 1;
  readonly id: string;
  readonly state: ApprovalState;
  readonly binding: Binding;
  readonly who: Identity;
  /** The tool's wire name. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** For checking the arguments that an approver gives instead; absent when it is too large to be kept. */
  readonly inputSchema?: Json;
  readonly args: Json;
  /** Of a view: the tool behind it, and the arguments that one gets. */
  readonly behind?: { readonly tool: string; readonly args: Json };
  readonly facts?: Json;
  readonly factsMissing?: string;
  /** Why it was asked about, and under which policy: told, not bound, because the policy decides again when it runs. */
  readonly reasons: readonly Reason[];
  readonly policyVersion: string;
  readonly callId: string;
  readonly requestedAt: number;
  /** Until then a question waits, a yes can be used, or a no stands. */
  readonly expiresAt: number;
  /** Every decision, the last one counts. */
  readonly decisions: readonly ApprovalDecision[];
  /** `outcome` is absent while the call runs, and for ever when the process died meanwhile. */
  readonly used?: { readonly callId: string; readonly at: number; readonly outcome?: UsedOutcome };
  /** Why and when it became void or expired. */
  readonly ended?: { readonly at: number; readonly why: string };
}

export interface ApprovalDecision {
  readonly answer: 'approve' | 'deny';
  readonly by: string;
  readonly at: number;
  readonly reason?: string;
  /** What the approver wants to run instead. */
  readonly args?: Json;
  /** The standing approval that answered it. */
  readonly always?: string;
}

export interface UsedOutcome {
  readonly at: number;
  readonly kind: Outcome['kind'];
  readonly isError?: boolean;
  readonly executed?: 'executed' | 'not_executed' | 'unknown';
}

/** A yes for every call of one tool by one agent, as that tool is defined now, until it expires. */
export interface AlwaysRecord {
  readonly v: 1;
  readonly id: string;
  readonly state: 'standing' | 'expired' | 'void';
  readonly binding: Omit<Binding, 'args' | 'facts'>;
  readonly who: Identity;
  readonly name: string;
  /** Arguments that must match: JSON Pointer (RFC 6901) → pattern, in which `*` stands for anything. */
  readonly when: readonly (readonly [pointer: string, pattern: string])[];
  readonly by: string;
  readonly at: number;
  readonly expiresAt: number;
  readonly ended?: { readonly at: number; readonly why: string };
}

const OPEN: ReadonlySet<ApprovalState> = new Set(['waiting', 'approved', 'denied']);

/** Whether a record can still answer a call. */
export function isOpen({ state }: Pick<ApprovalRecord, 'state'>): boolean {
  return OPEN.has(state);
}

/** The record as it has to be written once its time is over: what was seen as expired stays so, whatever a clock says. */
export function expired<R extends ApprovalRecord | AlwaysRecord>(record: R, now: number): R | undefined {
  if (now < record.expiresAt) return undefined;
  if (record.state !== 'standing' && !OPEN.has(record.state as ApprovalState)) return undefined;
  const why = {
    waiting: 'Nobody answered in time.',
    approved: 'It was approved, and not used in time.',
    denied: 'It was denied, and the time for which that stands is over.',
    standing: 'Its time is over.',
  }[record.state as 'waiting' | 'approved' | 'denied' | 'standing'];
  return { ...record, state: 'expired', ended: { at: now, why } };
}

export function voided<R extends ApprovalRecord | AlwaysRecord>(record: R, now: number, why: string): R {
  return { ...record, state: 'void', ended: { at: now, why } };
}

export function lastDecision({ decisions }: Pick<ApprovalRecord, 'decisions'>): ApprovalDecision | undefined {
  return decisions.at(-1);
}
