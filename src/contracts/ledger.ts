import type { Failure } from './call.ts';
import type { RawJson } from './json.ts';

/** Whose act it is. The same key of another agent, user, server or tool is another act. */
export interface LedgerKey {
  readonly agent: string;
  readonly user?: string;
  /** The server's fingerprint; null for a tool of this process. */
  readonly server: string | null;
  readonly tool: string;
  /** What the tool's own `idempotencyKey` gave for the arguments; with `conversation`, what names one call there. */
  readonly key: string;
  /** Set where the key names a call that may be handed over again, instead of an act. */
  readonly conversation?: string;
}

/** What a finished act left behind: the end that every later call with the key is given. */
export type LedgerEnd =
  | { readonly kind: 'ok'; readonly raw: RawJson; readonly isError: boolean }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** How the act of a claim ended, told once by whoever holds the claim. */
export type LedgerSettlement =
  /** It ran: its end is kept. */
  | { readonly kind: 'done'; readonly end: LedgerEnd }
  /** It is known not to have taken effect: the key is free again. */
  | { readonly kind: 'released' }
  /** Nobody knows. The key stays taken until it expires. */
  | { readonly kind: 'unknown' };

/** Times are milliseconds since the epoch. `callId` is that of the first call. */
export type LedgerClaim =
  /** This call is the first: run it, and settle once. */
  { readonly kind: 'mine'; settle(how: LedgerSettlement): Promise<void> } | LedgerMemory;

/** What is remembered of an act that another call began. */
export type LedgerMemory =
  /** `end` is absent where it was too large to keep. */
  | { readonly kind: 'done'; readonly callId: string; readonly at: number; readonly end?: LedgerEnd }
  | { readonly kind: 'unknown'; readonly callId: string; readonly at: number }
  | { readonly kind: 'other_arguments'; readonly callId: string; readonly at: number };

/**
 * Remembers which acts ran, for tools that declare an idempotency key, and which calls that may be handed over again.
 * Whoever asks for an act that is under way waits for its end.
 */
export interface IdempotencyLedger {
  /**
   * What is remembered, without claiming anything; undefined: nothing is. Rejects when the ledger can't be read, and when
   * `signal` aborts.
   */
  find(key: LedgerKey, call: { readonly argsDigest: string }, signal: AbortSignal): Promise<LedgerMemory | undefined>;
  /** Rejects when the ledger can't be read or written, and when `signal` aborts. */
  claim(
    key: LedgerKey,
    call: { readonly callId: string; readonly argsDigest: string },
    signal: AbortSignal,
  ): Promise<LedgerClaim>;
}
