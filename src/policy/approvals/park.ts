import type { AskQuestion } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import { agentPrefix, approvalId, sameAgent, sameBinding } from './binding.ts';
import { currentRecords } from './keep.ts';
import { type ApprovalRecord, type Binding, isOpen } from './record.ts';
import type { Settings } from './settings.ts';

/** Most characters of what an approver has to read: more is no question that anybody answers. */
const MOST_CHARS = 256_000;
const MOST_SCHEMA = 64_000;
/** How many records whose time is long over are removed at once. */
const MOST_REMOVED = 50;

/**
 * Puts a question into the store, where it waits. The same question that waits there already is joined: whoever asks
 * twice for the same thing gets one approval, good for one call.
 *
 * @param records those of the same agent
 * @throws BridleError `approvals_full`, `approval_too_large`
 */
export async function park(
  settings: Settings,
  question: AskQuestion,
  binding: Binding,
): Promise<{ readonly record: ApprovalRecord; readonly isNew: boolean }> {
  for (;;) {
    const records = await currentRecords(settings.table, agentPrefix(binding), settings.now);
    const same = records.filter((one) => sameBinding(one.binding, binding));
    const open = same.find(isOpen);
    if (open) return { record: open, isNew: false };
    refuseWhenFull(records, binding, settings);
    await removeOld(records, settings);
    const taken = new Set(records.map(({ id }) => id));
    let nth = 1;
    while (taken.has(approvalId(binding, nth))) nth += 1;
    const record = newRecord(question, binding, approvalId(binding, nth), settings);
    if (await settings.table.put(record.id, record, null)) return { record, isNew: true };
  }
}

function refuseWhenFull(records: readonly ApprovalRecord[], binding: Binding, { mostWaiting }: Settings): void {
  const waiting = records.filter(({ state, binding: other }) => state === 'waiting' && sameAgent(other, binding));
  if (waiting.length < mostWaiting) return;
  throw new BridleError(
    'approvals_full',
    `${waiting.length} questions of the agent "${binding.agent}" wait for an answer already, the most there may be`,
    { hint: 'Answer some of them first: bridle approvals list.' },
  );
}

/** What is long over goes, a few at a time, so that the store doesn't grow for ever. */
async function removeOld(records: readonly ApprovalRecord[], { table, now, overMs }: Settings): Promise<void> {
  const before = now() - overMs;
  const old = records.filter((one) => !isOpen(one) && (one.ended?.at ?? one.used?.at ?? one.requestedAt) < before);
  for (const { id } of old.slice(0, MOST_REMOVED)) {
    const found = await table.get(id);
    if (found && !isOpen(found.value)) await table.put(id, null, found.rev);
  }
}

function newRecord(question: AskQuestion, binding: Binding, id: string, { now, waitingMs }: Settings): ApprovalRecord {
  const { who, tool, args, behind, facts, factsMissing, decision, callId } = question;
  const at = now();
  const hasSchema = JSON.stringify(tool.inputSchema).length <= MOST_SCHEMA;
  const record: ApprovalRecord = {
    v: 1,
    id,
    state: 'waiting',
    binding,
    who,
    name: tool.ref.name,
    ...(tool.title !== undefined && { title: tool.title }),
    description: tool.description.slice(0, 4_000),
    ...(hasSchema && { inputSchema: tool.inputSchema }),
    args,
    ...(tool.narrows && behind !== undefined && { behind: { tool: tool.narrows.of.ref.tool, args: behind } }),
    ...(facts !== undefined && { facts }),
    ...(factsMissing !== undefined && { factsMissing }),
    reasons: decision.reasons,
    policyVersion: decision.policyVersion,
    callId,
    requestedAt: at,
    expiresAt: at + waitingMs,
    decisions: [],
  };
  if (JSON.stringify([args, behind ?? null, facts ?? null, decision.reasons]).length > MOST_CHARS) {
    throw new BridleError(
      'approval_too_large',
      `The call of "${tool.ref.name}" is too large to be approved by anybody`,
      {
        hint: 'Split it into smaller calls.',
      },
    );
  }
  return record;
}
