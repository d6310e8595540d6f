import { randomBytes } from 'node:crypto';
import type {
  CallOutcomeRecord,
  DeclarationRecord,
  Identity,
  IntentRecord,
  Json,
  ListRecord,
  QuestionRecord,
  Recorder,
  RunFollower,
  RunRecord,
  StoreLog,
} from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import type { AuditEntry, AuditHead, AuditRecord } from './audit-record.ts';
import { headOf, linked, startOf } from './chain.ts';
import {
  argsDigest,
  type DescribeOptions,
  describeCall,
  describeDeclaration,
  describeEnd,
  describeQuestion,
} from './describe-call.ts';
import { providerUses } from './provider-uses.ts';
import { redactor } from './redact.ts';

/** A name for the chain of a new process: sortable by time, and unique. */
export function auditWriter(now = new Date()): string {
  return `${now.toISOString().replace(/[-:Z]/g, '').replace(/[T.]/g, '-')}-${randomBytes(4).toString('hex')}`;
}

/** Records that wait for a disk that doesn't answer; those beyond it are counted as lost. Intents are never dropped. */
const MOST_WAITING = 10_000;
/** Lists that were told already, remembered; beyond it one may be told again. */
const MOST_LISTS = 1_000;

export interface AuditRecorderOptions {
  /** The log of `writer`: of `openLogFolder`, or of any store. */
  readonly log: StoreLog<AuditRecord>;
  /** Whose chain this is. Nobody else may append to it; a process that starts takes a new name, see `auditWriter`. */
  readonly writer: string;
  /** Secret of this installation, for digests: `installationKey` of `bridle/store`. */
  readonly key: Uint8Array;
  /** Which program this is, where it runs, and as which process; whoever verifies is told. */
  readonly by: string;
  readonly host: string;
  readonly pid: number;
  /**
   * What is taken out of arguments and facts before they are written: member names, or JSON Pointers with `*` for any
   * one part. Names such as `password` and `token` always are.
   */
  readonly redact?: readonly string[];
  /** `digest`: arguments and facts are told by keyed digests only. Default `redacted`. */
  readonly arguments?: 'redacted' | 'digest';
  /** Unix milliseconds. Default `Date.now`. */
  readonly now?: () => number;
}

/**
 * Writes down who did what and why it was allowed, as a chain of records. Goes beside a trace: give both as recorders.
 */
export interface AuditRecorder extends Recorder {
  /** Somebody lists or searches the tools. Written once for each identity, policy and catalog. Never throws. */
  listed(list: ListRecord): void;
  /** What a server asked in the middle of a call, or of a request for a person, with the answer. Never throws. */
  question(record: QuestionRecord): void;
  /** A tool of the model's provider was declared in a run, or left out. Never throws. */
  declared(record: DeclarationRecord): void;
  /** Follows the runs of an agent for what its model's provider ran itself. */
  run(run: RunRecord): RunFollower;
  /**
   * A reply of the model: tool uses that its provider ran itself are recorded. For loops of one's own: those of a run that
   * is followed are known already. Never throws.
   *
   * @param message a Messages API response message
   */
  replied(who: Identity, message: Json): void;
  /** The last record that was written. */
  head(): AuditHead;
  /** Records that could not be written, apart from intents: those fail their call. */
  lost(): number;
  /** Waits until everything is on disk, and says so in the chain. Never rejects. */
  close(): Promise<void>;
}

interface Pending {
  readonly entry: (seq: number) => AuditEntry;
  readonly at: number;
  readonly durable: boolean;
  done?(): void;
  failed(error: unknown): void;
}

/**
 * Makes the recorder of one writer's chain.
 *
 * `intent` resolves once the record of a call that may change something is on disk; calls at the same time share one
 * sync. It rejects with `audit_not_writable` when that can't be had, and the call then doesn't run. Calls that only read
 * are recorded when they have ended, and wait for nothing.
 */
export function auditRecorder(options: AuditRecorderOptions): AuditRecorder {
  const { log, writer, key, by, host, pid } = options;
  const now = options.now ?? Date.now;
  const describe: DescribeOptions = {
    key,
    redactor: redactor(options.redact ?? []),
    keepsArguments: options.arguments !== 'digest',
  };
  let head = startOf(writer);
  let pending: Pending[] = [];
  let running: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  let lost = 0;
  let untold = 0;
  /** Intents whose calls have not ended, with their numbers once they stand in the chain. */
  const intents = new Map<string, { seq?: number }>();
  const lists = new Set<string>();

  const write = async (batch: readonly Pending[]): Promise<void> => {
    const records: AuditRecord[] = [];
    let at = head;
    const add = (when: number, entry: AuditEntry) => {
      const record = linked(at, when, entry);
      records.push(record);
      at = headOf(record);
    };
    if (head.seq === 0) {
      await refuseTaken(log, writer);
      add(now(), { type: 'opened', by, host, pid });
    }
    const telling = untold;
    if (telling > 0) add(now(), { type: 'lost', records: telling });
    for (const { entry, at: when } of batch) add(when, entry(at.seq + 1));
    // The chain goes on from what is on disk: a batch that fails leaves no gap in it.
    await log.append(
      records,
      batch.some(({ durable }) => durable),
    );
    head = at;
    untold -= telling;
    for (const { done } of batch) done?.();
  };

  const drain = async (): Promise<void> => {
    // What comes in one turn of the event loop goes out together.
    await undefined;
    while (pending.length > 0) {
      const batch = pending;
      pending = [];
      try {
        await write(batch);
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    running = undefined;
  };
  const push = (entry: Pending) => {
    pending.push(entry);
    running ??= drain();
  };
  const lose = () => {
    lost += 1;
    untold += 1;
  };
  /** Without waiting for it. */
  const note = (entry: (seq: number) => AuditEntry): void => {
    if (closing || pending.length >= MOST_WAITING) lose();
    else push({ entry, at: now(), durable: false, failed: lose });
  };
  const must = (entry: (seq: number) => AuditEntry): Promise<void> =>
    new Promise((resolve, reject) => {
      if (closing) return reject(notWritable('it is closed'));
      const failed = (error: unknown) =>
        reject(notWritable(error instanceof Error ? error.message : String(error), error));
      push({ entry, at: now(), durable: true, done: resolve, failed });
    });

  const replied = (who: Identity, message: Json): void => {
    try {
      for (const { id, name, server, input } of providerUses(message)) {
        const digest = argsDigest(input, describe);
        note(() => ({
          type: 'provider',
          who,
          id,
          name,
          ...(server !== undefined && { server }),
          argsDigest: digest,
        }));
      }
    } catch {
      lose();
    }
  };

  return {
    async intent(record: IntentRecord) {
      if (record.effect === 'read') return;
      const slot: { seq?: number } = {};
      const call = describeCall(record, describe);
      intents.set(callKey(record), slot);
      try {
        await must((seq) => {
          slot.seq = seq;
          return { type: 'intent', call };
        });
      } catch (error) {
        delete slot.seq;
        throw error;
      }
    },
    outcome(record: CallOutcomeRecord) {
      try {
        const { callId: id } = record;
        const slot = intents.get(callKey(record));
        intents.delete(callKey(record));
        const end = describeEnd(record);
        const call = slot === undefined ? describeCall(record, describe) : undefined;
        // Whether its intent got into the chain is known when this record follows it there.
        note(() =>
          slot?.seq === undefined
            ? { type: 'call', call: call ?? describeCall(record, describe), end }
            : { type: 'end', id, intent: slot.seq, end },
        );
      } catch {
        lose();
      }
    },
    listed({ kind, who, policyVersion, catalogVersion, tools }) {
      const told = JSON.stringify([kind, who.agent, who.user, who.via, who.scopes, policyVersion, catalogVersion]);
      if (lists.has(told)) return;
      if (lists.size >= MOST_LISTS) lists.clear();
      lists.add(told);
      note(() => ({ type: kind, who, policyVersion, catalogVersion, tools }));
    },
    question(record: QuestionRecord) {
      try {
        const question = describeQuestion(record, describe);
        note(() => ({ type: 'question', question }));
      } catch {
        lose();
      }
    },
    declared(record: DeclarationRecord) {
      try {
        const declaration = describeDeclaration(record, describe);
        note(() => ({ type: 'declaration', ...declaration }));
      } catch {
        lose();
      }
    },
    replied,
    run: ({ who }) => ({
      event(event) {
        if (event.type === 'model') replied(who, event.message);
      },
      end() {},
    }),
    head: () => head,
    lost: () => lost,
    close() {
      closing ??= (async () => {
        await running;
        // Who recorded nothing leaves nothing.
        if (head.seq === 0 && untold === 0) return;
        push({ entry: () => ({ type: 'closed' }), at: now(), durable: true, failed: lose });
        await running;
      })();
      return closing;
    },
  };
}

/** Ids of calls are told apart within a conversation only. */
function callKey({ conversation, callId }: Pick<IntentRecord, 'conversation' | 'callId'>): string {
  return JSON.stringify([conversation, callId]);
}

async function refuseTaken(log: StoreLog<AuditRecord>, writer: string): Promise<void> {
  for await (const _ of log.read(1)) {
    throw new Error(`the writer "${writer}" has a chain already, and every process begins its own`);
  }
}

function notWritable(why: string, cause?: unknown): BridleError {
  return new BridleError('audit_not_writable', `The audit could not be written: ${why}.`.replace(/\.+$/, '.'), {
    hint: 'No call that may change something runs until it can. Check the folder of the audit and its disk.',
    ...(cause !== undefined && { cause }),
  });
}
