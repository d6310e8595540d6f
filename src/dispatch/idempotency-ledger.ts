import type {
  Failure,
  IdempotencyLedger,
  LedgerClaim,
  LedgerEnd,
  LedgerKey,
  LedgerMemory,
  LedgerSettlement,
  Store,
  StoreTable,
} from '../contracts/index.ts';
import { canonicalJson, rawJson, sha256 } from '../tools/index.ts';
import { type Clock, systemClock } from './clock.ts';

const TABLE = 'idempotency';
const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_ENTRIES = 10_000;
/** Longest result kept, in characters. */
const MOST_KEPT = 256 * 1024;
/** A call under way says so this often, and is taken for dead when it was silent for the lease. */
const RENEW_MS = 5_000;
const LEASE_MS = 30_000;
/** How long a waiting call waits before it looks again by itself, should nobody tell it of the change. */
const LOOK_MS = 500;
/** After the first act and then after one in so many, entries that can go are looked for: most processes do few. */
const ACTS_PER_SWEEP = 256;

export interface IdempotencyLedgerOptions {
  /** How long an act is remembered, in milliseconds from its first call. Default a day. */
  readonly ttlMs?: number;
  /** Most acts remembered; the oldest that ended go first. Default 10,000. */
  readonly maxEntries?: number;
  readonly clock?: Clock;
}

interface Entry {
  readonly v: 1;
  readonly state: 'running' | 'done' | 'unknown';
  readonly callId: string;
  readonly argsDigest: string;
  /** When the first call claimed the act. */
  readonly at: number;
  /** While it is running: when it is taken for dead. */
  readonly leaseUntil: number;
  readonly end?:
    | { readonly kind: 'ok'; readonly text: string; readonly isError: boolean }
    | { readonly kind: 'failed'; readonly failure: Omit<Failure, 'partial'>; readonly partial?: string };
}

/**
 * A ledger of acts in a store: with a store on disk it holds over restarts and among processes that share it.
 *
 * A process that dies in the middle of an act leaves it as unknown, once its lease has run out: it isn't run again until
 * it is forgotten.
 */
export function idempotencyLedger(store: Store, options: IdempotencyLedgerOptions = {}): IdempotencyLedger {
  const { ttlMs = DAY_MS, maxEntries = DEFAULT_ENTRIES, clock = systemClock } = options;
  const table = store.table<Entry>(TABLE, { v: 1 });
  let acts = 0;

  /** What is still under way is remembered, however long it takes. */
  const isOver = (entry: Entry): boolean => {
    const now = clock.now();
    return now - entry.at >= ttlMs && !isAlive(entry, now);
  };

  const sweep = async (): Promise<void> => {
    const ended: { readonly key: string; readonly at: number }[] = [];
    let count = 0;
    for await (const [key, entry] of table.list('')) {
      if (isOver(entry)) await removeIf(table, key, isOver);
      else {
        count += 1;
        if (entry.state === 'done') ended.push({ key, at: entry.at });
      }
    }
    const tooMany = ended.sort((a, b) => a.at - b.at).slice(0, Math.max(0, count - maxEntries));
    for (const { key } of tooMany) await removeIf(table, key, ({ state }) => state === 'done');
  };

  const afterwards = async (): Promise<void> => {
    acts += 1;
    // What is swept here was over anyway: a sweep that fails costs nobody anything.
    if (acts % ACTS_PER_SWEEP === 1) await sweep().catch(() => {});
  };

  /** Undefined: it has changed meanwhile, so it has to be looked up anew. */
  const told = async (
    id: string,
    entry: Entry,
    argsDigest: string,
    signal: AbortSignal,
  ): Promise<LedgerMemory | undefined> => {
    const { callId, at } = entry;
    if (entry.argsDigest !== argsDigest) return { kind: 'other_arguments', callId, at };
    if (isAlive(entry, clock.now())) {
      await changed(table, id, clock, signal);
      return undefined;
    }
    if (entry.state !== 'done') return { kind: 'unknown', callId, at };
    const end = endOf(entry);
    return { kind: 'done', callId, at, ...(end && { end }) };
  };

  return {
    async find(key, { argsDigest }, signal): Promise<LedgerMemory | undefined> {
      const id = idOf(key);
      for (;;) {
        signal.throwIfAborted();
        const found = await table.get(id);
        if (found === undefined || isOver(found.value)) return undefined;
        const memory = await told(id, found.value, argsDigest, signal);
        if (memory) return memory;
      }
    },
    async claim(key, { callId, argsDigest }, signal): Promise<LedgerClaim> {
      const id = idOf(key);
      for (;;) {
        signal.throwIfAborted();
        const now = clock.now();
        const found = await table.get(id);
        if (found === undefined || isOver(found.value)) {
          const entry: Entry = { v: 1, state: 'running', callId, argsDigest, at: now, leaseUntil: now + LEASE_MS };
          if (!(await table.put(id, entry, found?.rev ?? null))) continue;
          const claimed = mine(table, id, entry, { clock, afterwards });
          if (!signal.aborted) return claimed;
          // Nobody waits for it any more, so nobody would ever settle it, and its lease would be renewed for ever.
          await claimed.settle({ kind: 'released' });
          throw signal.reason;
        }
        const memory = await told(id, found.value, argsDigest, signal);
        if (memory) return memory;
      }
    },
  };
}

function idOf({ agent, user, server, tool, key, conversation }: LedgerKey): string {
  const act = [agent, user ?? null, server, tool, key];
  return sha256(canonicalJson(conversation === undefined ? act : [...act, conversation]));
}

function isAlive({ state, leaseUntil }: Entry, now: number): boolean {
  return state === 'running' && now < leaseUntil;
}

/** The claim of the first call. Its lease is renewed until it is settled. */
function mine(
  table: StoreTable<Entry>,
  id: string,
  claimed: Entry,
  { clock, afterwards }: { readonly clock: Clock; afterwards(): Promise<void> },
): Extract<LedgerClaim, { kind: 'mine' }> {
  let stop = () => {};
  let settled = false;
  /** Changes the entry as long as it is this call's; somebody else's is let alone. */
  const change = async (next: (entry: Entry) => Entry | null): Promise<void> => {
    for (;;) {
      const found = await table.get(id);
      if (!found || found.value.callId !== claimed.callId || found.value.at !== claimed.at) return;
      if (await table.put(id, next(found.value), found.rev)) return;
    }
  };
  const renew = (): void => {
    stop = clock.after(RENEW_MS, () => {
      const later = (entry: Entry) => ({ ...entry, leaseUntil: clock.now() + LEASE_MS });
      // A renewal that fails is tried again by the next one.
      void change((entry) => (settled ? entry : later(entry)))
        .catch(() => {})
        .finally(() => {
          if (!settled) renew();
        });
    });
  };
  renew();
  return {
    kind: 'mine',
    async settle(how) {
      settled = true;
      stop();
      await change((entry) => settledEntry(entry, how));
      await afterwards();
    },
  };
}

function settledEntry(entry: Entry, how: LedgerSettlement): Entry | null {
  switch (how.kind) {
    case 'released':
      return null;
    case 'unknown':
      return { ...entry, state: 'unknown' };
    case 'done': {
      const end = kept(how.end);
      return { ...entry, state: 'done', ...(end && { end }) };
    }
  }
}

function kept(end: LedgerEnd): Entry['end'] | undefined {
  if (end.kind === 'ok') {
    return end.raw.text.length > MOST_KEPT ? undefined : { kind: 'ok', text: end.raw.text, isError: end.isError };
  }
  const { partial, ...failure } = end.failure;
  return {
    kind: 'failed',
    failure,
    ...(partial && partial.text.length <= MOST_KEPT && { partial: partial.text }),
  };
}

function endOf({ end }: Entry): LedgerEnd | undefined {
  if (!end) return undefined;
  if (end.kind === 'ok') return { kind: 'ok', raw: rawJson(end.text), isError: end.isError };
  const { failure, partial } = end;
  return { kind: 'failed', failure: { ...failure, ...(partial !== undefined && { partial: rawJson(partial) }) } };
}

/** Resolves when the entry may have changed, or after a while; rejects when the signal aborts. */
function changed(table: StoreTable<Entry>, id: string, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = (end: () => void) => () => {
      unwatch();
      cancel();
      signal.removeEventListener('abort', onAbort);
      end();
    };
    const onAbort = () => over(() => reject(signal.reason))();
    const unwatch = table.watch(id, () => over(resolve)());
    const cancel = clock.after(LOOK_MS, () => over(resolve)());
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

async function removeIf(table: StoreTable<Entry>, key: string, isOver: (entry: Entry) => boolean): Promise<void> {
  const found = await table.get(key);
  if (found && isOver(found.value)) await table.put(key, null, found.rev);
}
