import type { Store, StoreTable } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import type { AlwaysRecord, ApprovalRecord } from './record.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** How long things last, in milliseconds. A longer wish is cut to the most there is. */
export const LIFETIMES = {
  waiting: { standard: DAY, most: 30 * DAY },
  decided: { standard: DAY, most: 30 * DAY },
  always: { standard: 30 * DAY, most: 90 * DAY },
  /** How long what is over is kept for those who look it up. */
  over: { standard: 30 * DAY, most: 365 * DAY },
} as const;

export interface ApprovalsOptions {
  /** `openStore` or `memoryStore` of `bridle/store`. It stays the caller's to close. */
  readonly store: Store;
  /** Secret of this installation, for the digests of arguments and facts: at least 16 bytes. */
  readonly key: string | Uint8Array;
  /** Where calls come from, e.g. a project's folder: an approval is good only there. Default: one place for all. */
  readonly place?: string;
  /** How long a question waits, ms. Default 24 hours, 30 days at most. */
  readonly waitingMs?: number;
  /** How long a yes can be used and a no stands, ms. Default 24 hours, 30 days at most. */
  readonly decidedMs?: number;
  /** How long an "always" stands, ms. Default 30 days, 90 days at most. */
  readonly alwaysMs?: number;
  /** Most open questions of one agent. Default 100. */
  readonly mostWaiting?: number;
  /** Lets the client that made a call approve it. Default false. */
  readonly ownCalls?: boolean;
  /** Unix milliseconds. Default `Date.now`. */
  readonly now?: () => number;
}

export interface Settings {
  readonly place: string;
  readonly key: string | Uint8Array;
  readonly waitingMs: number;
  readonly decidedMs: number;
  readonly alwaysMs: number;
  readonly overMs: number;
  readonly mostWaiting: number;
  readonly ownCalls: boolean;
  readonly now: () => number;
  readonly table: StoreTable<ApprovalRecord>;
  readonly alwaysTable: StoreTable<AlwaysRecord>;
}

const SHORTEST_KEY = 16;

/** @throws BridleError `approvals_invalid` for a setting that can't be meant */
export function settingsOf(options: ApprovalsOptions): Settings {
  if (Buffer.byteLength(options.key) < SHORTEST_KEY) {
    throw invalid(`The key has less than ${SHORTEST_KEY} bytes`, 'Use 32 random bytes that stay the same.');
  }
  const mostWaiting = options.mostWaiting ?? 100;
  if (!Number.isInteger(mostWaiting) || mostWaiting < 1) {
    throw invalid(`mostWaiting is ${mostWaiting}`, 'Give a whole number above zero.');
  }
  return {
    place: options.place ?? '',
    key: options.key,
    waitingMs: lifetime('waiting', options.waitingMs),
    decidedMs: lifetime('decided', options.decidedMs),
    alwaysMs: lifetime('always', options.alwaysMs),
    overMs: LIFETIMES.over.standard,
    mostWaiting,
    ownCalls: options.ownCalls ?? false,
    now: options.now ?? Date.now,
    table: options.store.table('approvals', { v: 1 }),
    alwaysTable: options.store.table('approvals-always', { v: 1 }),
  };
}

/** @throws BridleError `approvals_invalid` when it isn't a time */
export function lifetime(which: keyof typeof LIFETIMES, wished: number | undefined): number {
  const { standard, most } = LIFETIMES[which];
  if (wished === undefined) return standard;
  if (!(wished > 0)) throw invalid(`A lifetime is ${wished} ms`, 'Give milliseconds above zero.');
  return Math.min(wished, most);
}

function invalid(what: string, hint: string): BridleError {
  return new BridleError('approvals_invalid', `${what}.`, { hint });
}
