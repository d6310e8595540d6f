import type { Asker, AskQuestion, Json } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import { type ApprovalAskerOptions, approvalAsker } from './approval-asker.ts';
import { agentPrefix, alwaysId, bindingOf } from './binding.ts';
import { alwaysCovers, isPointer, wantsEachCall } from './cover.ts';
import { type Approver, checkArgs, decided, refuseOwnCall } from './decide-approval.ts';
import { changeRecord, currentRecords } from './keep.ts';
import {
  type AlwaysRecord,
  type ApprovalDecision,
  type ApprovalRecord,
  type ApprovalState,
  lastDecision,
  voided,
} from './record.ts';
import { type ApprovalsOptions, lifetime, type Settings, settingsOf } from './settings.ts';

export interface AlwaysOptions {
  /** Only calls whose arguments match: JSON Pointer (RFC 6901) → pattern, in which `*` stands for anything. */
  readonly when?: Readonly<Record<string, string>>;
  /** How long it stands, ms. Default as set for the inbox. */
  readonly ms?: number;
}

export interface ApproveOptions {
  /** Who says so: a name, or for a client of its own also who it is. */
  readonly by: string | Approver;
  /** Runs with these arguments instead. They are validated, and decided on again when the call is made. */
  readonly args?: Json;
  /** Allows later calls of this tool by this agent too, as the tool is defined now. */
  readonly always?: AlwaysOptions | true;
}

export interface Approvals {
  /** @param filter `open`: what waits, and what was decided and not used yet. Oldest first */
  list(filter?: {
    readonly state?: ApprovalState | 'open';
    readonly agent?: string;
  }): Promise<readonly ApprovalRecord[]>;
  /** @param id an id, or its beginning or end of 4 characters or more where no other has it */
  show(id: string): Promise<ApprovalRecord>;
  approve(id: string, options: ApproveOptions): Promise<ApprovalRecord>;
  /** Refuses a call, or takes an approval back that wasn't used. @param options.reason is told to whoever asked */
  deny(id: string, options: { readonly by: string | Approver; readonly reason?: string }): Promise<ApprovalRecord>;
  /** Calls `listener` with each record that is new or has changed, in this process or another. Returns how to stop. */
  watch(listener: (approval: ApprovalRecord) => void): () => void;
  /** What is allowed until further notice. */
  standing(): Promise<readonly AlwaysRecord[]>;
  /** Allows what this question asks about until further notice. */
  allowAlways(question: AskQuestion, options: { readonly by: string } & AlwaysOptions): Promise<AlwaysRecord>;
  /** Ends what was allowed until further notice. */
  revoke(id: string, options: { readonly by: string }): Promise<AlwaysRecord>;
  /** Answers a dispatcher's questions from the store, and puts there what nobody has answered. */
  asker(options?: ApprovalAskerOptions): Asker;
  /** Waits until everything that calls left to be written is written. */
  flush(): Promise<void>;
}

/**
 * The inbox of stored approvals: what agents ask for, what people answer, and what came of it. Any number of processes
 * may use the same store.
 *
 * Its methods reject with BridleError `approval_not_found`, `approval_over`, `approval_own_call`,
 * `approval_args_invalid`, `approval_always_refused`, and what the store rejects with.
 *
 * @throws BridleError `approvals_invalid` for a setting that can't be meant
 */
export function approvals(options: ApprovalsOptions): Approvals {
  const settings = settingsOf(options);
  const { table, alwaysTable, now } = settings;
  const writes = new Set<Promise<unknown>>();
  const track = (write: Promise<unknown>) => {
    // Whoever looks at the record sees that its end is not known; there is nobody here to be told.
    const settled: Promise<unknown> = write.catch(() => {}).finally(() => writes.delete(settled));
    writes.add(settled);
  };
  const all = () => currentRecords(table, '', now);
  const find = async (id: string) => one(await all(), id, 'approval');

  const decide = async (id: string, by: string | Approver, said: Omit<ApprovalDecision, 'by' | 'at'>) => {
    const approver = typeof by === 'string' ? { name: by } : by;
    const { record, left } = (await changeRecord(table, id, now, (record) => {
      refuseOwnCall(record, approver, settings);
      return decided(record, { ...said, by: approver.name, at: now() }, settings);
    })) ?? { left: notFound(id, 'approval') };
    if (left !== undefined || record === undefined) throw left;
    return record;
  };

  const stand = async (record: Standing, by: string, wished: AlwaysOptions): Promise<AlwaysRecord> => {
    const always = alwaysRecord(record, by, wished, settings);
    for (;;) {
      const there = await alwaysTable.get(always.id);
      if (await alwaysTable.put(always.id, always, there?.rev ?? null)) break;
    }
    await answerSiblings(settings, always);
    return always;
  };

  return {
    async list({ state, agent } = {}) {
      const wanted = (await all()).filter(
        (each) =>
          (agent === undefined || each.who.agent === agent) &&
          (state === undefined ||
            (state === 'open' ? ['waiting', 'approved'].includes(each.state) : each.state === state)),
      );
      return wanted.sort((a, b) => a.requestedAt - b.requestedAt || (a.id < b.id ? -1 : 1));
    },
    show: find,
    async approve(id, { by, args, always }) {
      const record = await find(id);
      if (args !== undefined) await checkArgs(record, args);
      const approver = typeof by === 'string' ? by : by.name;
      if (always === undefined) {
        return decide(record.id, by, { answer: 'approve', ...(args !== undefined && { args }) });
      }
      refuseOwnCall(record, typeof by === 'string' ? { name: by } : by, settings);
      const wished = always === true ? {} : always;
      const next = alwaysRecord(record, approver, wished, settings);
      if (args !== undefined || !alwaysCovers(next, record)) {
        throw refuseAlways('the call that is asked about is not one that it would allow');
      }
      // The call itself first: should this process end in between, what was said of it counts.
      const answered = await decide(record.id, by, { answer: 'approve', always: next.id });
      await stand(record, approver, wished);
      return answered;
    },
    async deny(id, { by, reason }) {
      const record = await find(id);
      return decide(record.id, by, { answer: 'deny', ...(reason !== undefined && { reason: reason.slice(0, 2_000) }) });
    },
    watch(listener) {
      return table.watch('', (key) => {
        void table.get(key).then(
          (found) => found && listener(found.value),
          () => {},
        );
      });
    },
    standing: () => currentRecords(alwaysTable, '', now),
    async allowAlways(question, { by, ...wished }) {
      const { who, tool, args, decision } = question;
      const binding = bindingOf(question, settings);
      return stand({ binding, who, name: tool.ref.name, args, reasons: decision.reasons }, by, wished);
    },
    async revoke(id, { by }) {
      const record = one(await currentRecords(alwaysTable, '', now), id, 'standing approval');
      const done = await changeRecord(alwaysTable, record.id, now, (each) =>
        each.state === 'standing' ? voided(each, now(), `It was revoked by ${by}.`) : { left: undefined },
      );
      await takeBack(settings, record);
      return done?.record ?? record;
    },
    asker: (askerOptions = {}) => approvalAsker(settings, askerOptions, track),
    async flush() {
      while (writes.size > 0) await Promise.all([...writes]);
    },
  };
}

type Standing = Pick<ApprovalRecord, 'binding' | 'who' | 'name' | 'args' | 'reasons'>;

const MOST_PATTERNS = 20;

function alwaysRecord(
  record: Standing,
  by: string,
  { when = {}, ms }: AlwaysOptions,
  settings: Settings,
): AlwaysRecord {
  const patterns = Object.entries(when).sort(([a], [b]) => (a < b ? -1 : 1));
  if (wantsEachCall(record.reasons)) {
    throw refuseAlways(
      "an ask rule or a hook wants a person's word for each call, and nothing that was said before replaces it",
    );
  }
  const wrong = patterns.find(([pointer, pattern]) => !isPointer(pointer) || typeof pattern !== 'string');
  if (wrong) throw refuseAlways(`"${wrong[0]}" is no JSON Pointer with a pattern, such as "/path" with "notes/*"`);
  if (patterns.length > MOST_PATTERNS) throw refuseAlways(`it has more than ${MOST_PATTERNS} patterns`);
  const { place, agent, user, server, tool, definition } = record.binding;
  const binding = { place, agent, user, server, tool, definition };
  const at = settings.now();
  return {
    v: 1,
    id: alwaysId(binding, patterns),
    state: 'standing',
    binding,
    who: record.who,
    name: record.name,
    when: patterns,
    by,
    at,
    expiresAt: at + (ms === undefined ? settings.alwaysMs : lifetime('always', ms)),
  };
}

function refuseAlways(why: string): BridleError {
  return new BridleError('approval_always_refused', `It can't be allowed always: ${why}.`, {
    hint: 'Approve this one call, or write a rule: permissions in bridle.json.',
  });
}

/** Whoever waits for an answer that the standing approval gives has it now. */
async function answerSiblings({ table, now, decidedMs }: Settings, always: AlwaysRecord): Promise<void> {
  for (const waiting of await currentRecords(table, agentPrefix(always.binding), now)) {
    if (waiting.state !== 'waiting' || !alwaysCovers(always, waiting)) continue;
    const said: ApprovalDecision = { answer: 'approve', by: always.by, at: now(), always: always.id };
    await changeRecord(table, waiting.id, now, (each) =>
      each.state === 'waiting' ? decided(each, said, { decidedMs }) : { left: undefined },
    );
  }
}

/** What it answered and nobody has used yet goes with it: a call that was only covered by it is asked about anew. */
async function takeBack({ table, now }: Settings, always: AlwaysRecord): Promise<void> {
  const isOurs = (each: ApprovalRecord) => each.state === 'approved' && lastDecision(each)?.always === always.id;
  for (const each of await currentRecords(table, agentPrefix(always.binding), now)) {
    if (!isOurs(each)) continue;
    await changeRecord(table, each.id, now, (there) =>
      isOurs(there) ? voided(there, now(), `What allowed it (${always.id}) was revoked.`) : { left: undefined },
    );
  }
}

const SHORTEST_PART = 4;

function one<R extends { readonly id: string }>(records: readonly R[], id: string, what: string): R {
  const exact = records.find((each) => each.id === id);
  if (exact) return exact;
  // A slip of the finger is no yes to the only call that happens to end like it.
  const near =
    id.length < SHORTEST_PART ? [] : records.filter((each) => each.id.startsWith(id) || each.id.endsWith(id));
  const [first, another] = near;
  if (first && !another) return first;
  throw notFound(id, what, near.length);
}

function notFound(id: string, what: string, many = 0): BridleError {
  const text = many > 1 ? `"${id}" stands for ${many} of them; give more of the id.` : `There is no ${what} "${id}".`;
  return new BridleError('approval_not_found', text, { hint: "'bridle approvals list' shows what there is." });
}
