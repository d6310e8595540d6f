import type { Asker, AskQuestion, AskReply } from '../../contracts/index.ts';
import { agentPrefix, bindingOf, sameBinding } from './binding.ts';
import { alwaysCovers, DEFINITION_CHANGED, findRecord } from './cover.ts';
import { denialText } from './decide-approval.ts';
import { grantOf } from './grant.ts';
import { changeRecord, currentRecords } from './keep.ts';
import { park } from './park.ts';
import { type ApprovalRecord, type Binding, isOpen, lastDecision, voided } from './record.ts';
import type { Settings } from './settings.ts';
import { changeOf } from './wait.ts';

export interface ApprovalAskerOptions {
  /** How long a question waits for its answer before the call ends as parked, ms. Default 0: it is parked at once. */
  readonly waitMs?: number;
  /** Who is asked when nothing stored answers, in place of parking: the person at the terminal, say. */
  readonly otherwise?: Asker;
}

/** Answers from the store, and puts there what it can't answer. Rejects when the store does: then nothing runs. */
export function approvalAsker(
  settings: Settings,
  { waitMs = 0, otherwise }: ApprovalAskerOptions,
  track: (write: Promise<unknown>) => void,
): Asker {
  return {
    async ask(question) {
      const binding = bindingOf(question, settings);
      const until = performance.now() + waitMs;
      let earlier = '';
      for (;;) {
        const stored = await storedAnswer(settings, question, binding, track);
        if ('answer' in stored) return stored;
        earlier ||= stored.earlier;
        if (otherwise) return otherwise.ask(question);
        const { record } = await park(settings, question, binding);
        const left = until - performance.now();
        if (!(left > 0)) return parked(record, earlier);
        const now = await changeOf(settings, record, { ms: left, signal: question.signal });
        if (now === undefined || question.signal.aborted) return parked(record, earlier);
        if (now.state === 'expired') return unanswered(now);
      }
    },
  };
}

type Stored = AskReply | { readonly earlier: string };

async function storedAnswer(
  settings: Settings,
  { args, decision }: AskQuestion,
  binding: Binding,
  track: (write: Promise<unknown>) => void,
): Promise<Stored> {
  const { table, now } = settings;
  const records = await currentRecords(table, agentPrefix(binding), now);
  const { record, outdated } = findRecord(binding, records);
  for (const { record: old, why } of outdated) {
    await changeRecord(table, old.id, now, (one) => (isOpen(one) ? voided(one, now(), why) : { left: undefined }));
  }
  if (record?.state === 'denied') return denied(record, now());
  if (record?.state === 'approved') {
    const found = await table.get(record.id);
    if (found?.value.state === 'approved' && sameBinding(found.value.binding, binding)) {
      return allowed(settings, { record: found.value, rev: found.rev }, track);
    }
  }
  const standing = await standingAnswer(settings, binding, { args, reasons: decision.reasons });
  return standing ?? { earlier: earlierText(binding, records, outdated) };
}

async function standingAnswer(
  { alwaysTable, now }: Settings,
  binding: Binding,
  { args, reasons }: Pick<ApprovalRecord, 'args' | 'reasons'>,
): Promise<AskReply | undefined> {
  const all = await currentRecords(alwaysTable, `always-${agentPrefix(binding)}`, now);
  for (const always of all) {
    if (alwaysCovers(always, { binding, args, reasons })) {
      return { answer: 'allow', by: `${always.by}, always`, always: 'project', approval: always.id };
    }
    const { definition, ...rest } = always.binding;
    const isOld = always.state === 'standing' && definition !== binding.definition;
    if (
      isOld &&
      alwaysCovers({ ...always, binding: { ...rest, definition: binding.definition } }, { binding, args, reasons })
    ) {
      await changeRecord(alwaysTable, always.id, now, (one) =>
        one.state === 'standing' ? voided(one, now(), DEFINITION_CHANGED) : { left: undefined },
      );
    }
  }
  return undefined;
}

function allowed(
  settings: Settings,
  found: { readonly record: ApprovalRecord; readonly rev: number },
  track: (write: Promise<unknown>) => void,
): AskReply {
  const said = lastDecision(found.record);
  return {
    answer: 'allow',
    by: said?.by ?? 'nobody',
    approval: found.record.id,
    grant: grantOf(settings, found, track),
    ...(said?.args !== undefined && { args: said.args }),
  };
}

function denied(record: ApprovalRecord, now: number): AskReply {
  const by = lastDecision(record)?.by ?? 'nobody';
  return { answer: 'deny', by, reason: denialText(record, now), approval: record.id };
}

function unanswered({ id }: ApprovalRecord): AskReply {
  const reason = `Nobody answered before the question expired (approval ${id}). Tell the user; it can be asked once more.`;
  return { answer: 'deny', by: 'nobody', reason, approval: id };
}

function parked({ id, expiresAt }: ApprovalRecord, earlier: string): AskReply {
  const until = new Date(expiresAt).toISOString();
  const wait =
    `It waits for a person until ${until} (approval ${id}). Don't make the call again now; go on without it, or tell ` +
    'the user what waits.';
  return { answer: 'parked', approval: id, reason: `${earlier}${wait}` };
}

/** Why a yes that was there once doesn't count any more. */
function earlierText(
  binding: Binding,
  records: readonly ApprovalRecord[],
  outdated: readonly { readonly record: ApprovalRecord; readonly why: string }[],
): string {
  const yes = outdated.find(({ record }) => record.state === 'approved');
  if (yes) return `The approval ${yes.record.id} is void: ${yes.why} `;
  const over = records.filter((one) => one.state === 'expired' && sameBinding(one.binding, binding));
  const last = over.sort((a, b) => (a.ended?.at ?? 0) - (b.ended?.at ?? 0)).at(-1);
  return last === undefined ? '' : `The approval ${last.id} expired: ${last.ended?.why ?? ''} `;
}
