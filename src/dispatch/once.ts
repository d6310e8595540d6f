import type { LedgerClaim, LedgerKey, LedgerSettlement, Outcome } from '../contracts/index.ts';
import type { Call, Ended, First, Path, Permitted, Ran } from './call-path.ts';
import { cancelled, ended, errorText, failed, shown } from './outcomes.ts';
import { withinLimits } from './within-limits.ts';

/** Longest key, in characters, that a tool may give. */
const LONGEST_KEY = 1_000;

const UNGUARDED: First = { stage: 'first', settle: async () => {} };

/**
 * Only for a tool that declares an idempotency key: looks whether its act ran already. An act that ran is answered by
 * its first end, one that is under way is waited for, and one of which nobody knows whether it ran is not run again.
 */
export async function once(path: Path, call: Call, permit: Permitted): Promise<Ended | Ran | First> {
  const { idempotency } = path;
  const tool = permit.tool.narrows?.of ?? permit.tool;
  if (!idempotency || !tool.idempotencyKey || call.previewFor) return UNGUARDED;
  const key = keyOf(call, permit);
  if (key === null) return UNGUARDED;
  if ('stage' in key) return key;
  const run = await withinLimits(
    ({ signal }) =>
      idempotency.claim(
        key,
        { callId: call.ctx.callId, argsDigest: (permit.args.behind ?? permit.args).digest },
        signal,
      ),
    { signal: call.ctx.signal, clock: path.clock, hardMs: call.hardMs },
  );
  switch (run.end) {
    case 'settled':
      return answer(call, permit, run.value);
    case 'threw':
      return ended(failed(unreadable(errorText(run.error)), 'not_executed'));
    case 'limit':
      if (run.late) await release(run.late.value);
      return ended(failed(stillRunning(run.ms), 'not_executed', { retryable: true }));
    case 'cancelled':
      if (run.late) await release(run.late.value);
      return ended(cancelled(call.ctx.signal, 'not_executed'));
  }
}

/**
 * An act is the same one whether it is called by the tool's own name or by a view's. Null: the call has no key, and is
 * run as often as it is made.
 */
function keyOf(call: Call, permit: Permitted): Ended | LedgerKey | null {
  const tool = permit.tool.narrows?.of ?? permit.tool;
  const args = permit.args.behind ?? permit.args;
  const { agent, user } = call.ctx.who;
  let key: unknown;
  try {
    key = tool.idempotencyKey?.(args.value());
  } catch (error) {
    return unusable(tool.ref.name, errorText(error));
  }
  if (key === null) return null;
  if (typeof key !== 'string' || key === '') return unusable(tool.ref.name, 'it is no text, or an empty one');
  if (key.length > LONGEST_KEY) return unusable(tool.ref.name, `it is longer than ${LONGEST_KEY} characters`);
  return {
    agent,
    ...(user !== undefined && { user }),
    server: tool.ref.server?.fingerprint ?? null,
    tool: tool.ref.tool,
    key,
  };
}

/** Without the key nobody can say whether this act ran: it isn't run. */
function unusable(name: string, why: string): Ended {
  const text = `"${name}" was not run, because its idempotency key can't be used: ${why}. Whoever wrote the tool has to mend that.`;
  return ended(failed(text, 'not_executed', { category: 'validation' }));
}

function unreadable(why: string): string {
  return `The call was not run, because the ledger of what ran before could not be used: ${why}. The person who runs this has to mend that.`;
}

function stillRunning(ms: number): string {
  return `The same act was begun by another call and is still under way after ${ms} ms. This call was not run; ask again later for how that one ended.`;
}

function answer(call: Call, { tool }: Permitted, claim: LedgerClaim): Ended | Ran | First {
  if (claim.kind === 'mine') {
    return { stage: 'first', settle: (outcome) => claim.settle(settlementOf(outcome)).catch(() => {}) };
  }
  const first = `call ${shown(claim.callId, 80)} of ${new Date(claim.at).toISOString()}`;
  switch (claim.kind) {
    case 'done':
      call.notes.answeredBy = { callId: claim.callId, at: claim.at };
      if (claim.end) return { stage: 'ran', tool, outcome: claim.end };
      return ended(
        failed(
          `This act has run already (${first}), and its result was too large to keep. It was not run again.`,
          'executed',
        ),
      );
    case 'unknown': {
      call.notes.answeredBy = { callId: claim.callId, at: claim.at };
      const text = `This act was begun before (${first}), and whether it took effect is not known. It was not run again: find out first, for example with a tool that reads.`;
      return ended(failed(text, 'unknown'));
    }
    case 'other_arguments': {
      const text = `This act has been called before with other arguments (${first}): its idempotency key is the same, the arguments differ. Nothing was run. If it is meant to be another act, it needs what makes its key another one.`;
      return ended(failed(text, 'not_executed', { category: 'validation' }));
    }
  }
}

/** A claim that came after nobody waited for it any more. */
async function release(claim: LedgerClaim): Promise<void> {
  if (claim.kind === 'mine') await claim.settle({ kind: 'released' }).catch(() => {});
}

/**
 * An error that the tool itself reports as a result frees the key: it is the tool's word that the act failed, and the
 * next try is the caller's to decide. What nobody knows stays taken.
 */
function settlementOf(outcome: Outcome): LedgerSettlement {
  switch (outcome.kind) {
    case 'ok':
      return outcome.isError ? { kind: 'released' } : { kind: 'done', end: outcome };
    case 'failed':
    case 'cancelled':
      if (outcome.failure.executed === 'executed') {
        return { kind: 'done', end: { kind: 'failed', failure: outcome.failure } };
      }
      return { kind: outcome.failure.executed === 'not_executed' ? 'released' : 'unknown' };
    case 'input_required':
    case 'unknown_tool':
    case 'invalid':
    case 'denied':
    case 'parked':
      return { kind: 'released' };
  }
}
