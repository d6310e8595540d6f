import type { Grant, Outcome } from '../../contracts/index.ts';
import { changeRecord } from './keep.ts';
import { type ApprovalRecord, expired, isOpen, type UsedOutcome, voided } from './record.ts';
import type { Settings } from './settings.ts';

/**
 * The permission of one approval, as it was read.
 *
 * @param rev the revision that was read: whatever was decided since then, this permission isn't good for it
 * @param track is given each write that nobody waits for
 */
export function grantOf(
  { table, now }: Pick<Settings, 'table' | 'now'>,
  { record, rev }: { readonly record: ApprovalRecord; readonly rev: number },
  track: (write: Promise<unknown>) => void,
): Grant {
  const { id } = record;
  let tried: ApprovalRecord['used'];
  return {
    id,
    async claim(callId) {
      const at = now();
      const over = expired(record, at);
      if (over) {
        await table.put(id, over, rev);
        return { claimed: false, why: 'it has expired' };
      }
      tried = { callId, at };
      if (await table.put(id, { ...record, state: 'used', used: tried }, rev)) return { claimed: true };
      return { claimed: false, why: whyNot((await table.get(id))?.value) };
    },
    async void(why) {
      await changeRecord(table, id, now, (one) => (isOpen(one) ? voided(one, now(), why) : { left: undefined }));
    },
    settle(outcome) {
      const end = usedOutcome(outcome, now());
      const ours = tried;
      if (ours === undefined) return;
      track(
        changeRecord(table, id, now, (one) =>
          one.used?.callId === ours.callId && one.used.at === ours.at
            ? { ...one, used: { ...ours, outcome: end } }
            : { left: undefined },
        ),
      );
    },
  };
}

function whyNot(now: ApprovalRecord | undefined): string {
  switch (now?.state) {
    case undefined:
      return 'it is gone';
    case 'used':
      return `it was used by the call ${now.used?.callId}`;
    case 'denied':
      return 'it was taken back';
    case 'expired':
      return 'it has expired';
    case 'void':
      return `it is void: ${now.ended?.why ?? 'what was approved has changed'}`;
    case 'approved':
    case 'waiting':
      return 'it was decided on anew meanwhile';
  }
}

function usedOutcome(outcome: Outcome, at: number): UsedOutcome {
  switch (outcome.kind) {
    case 'ok':
      return { at, kind: outcome.kind, isError: outcome.isError };
    case 'failed':
    case 'cancelled':
      return { at, kind: outcome.kind, executed: outcome.failure.executed };
    case 'input_required':
      return { at, kind: outcome.kind };
    case 'unknown_tool':
    case 'invalid':
    case 'denied':
    case 'parked':
      return { at, kind: outcome.kind, executed: 'not_executed' };
  }
}
