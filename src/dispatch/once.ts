import type {
  IdempotencyLedger,
  LedgerClaim,
  LedgerKey,
  LedgerMemory,
  LedgerSettlement,
  Outcome,
  ToolDefinition,
} from '../contracts/index.ts';
import { canonicalJson, sha256 } from '../tools/index.ts';
import { boundDigest } from './arguments.ts';
import type { Call, Ended, First, Path, Permitted, Prepared, Ran } from './call-path.ts';
import { cancelled, ended, errorText, failed, shown } from './outcomes.ts';
import { withinLimits } from './within-limits.ts';

/** Longest key, in characters, that a tool may give. */
const LONGEST_KEY = 1_000;

const UNGUARDED: First = { stage: 'first', settle: async () => {} };

/**
 * Only for a tool that declares an idempotency key, and for a call that its front door may hand over again: looks whether
 * it ran already. What ran is answered by its first end, what is under way is waited for, and what nobody knows of
 * whether it ran is not run again. Equal arguments, and ids that a model or a client chose, never make two calls one.
 *
 * A call may be both: an error that frees the act doesn't free the call that had it.
 */
export async function once(
  path: Path,
  call: Call,
  prepared: Prepared,
  permit: Permitted,
): Promise<Ended | Ran | First> {
  const { idempotency } = path;
  if (!idempotency || call.previewFor) return UNGUARDED;
  const act = actOf(call, permit);
  if (act && 'stage' in act) return act;
  const mine: First[] = [];
  const settle = async (outcome: Outcome) => {
    for (const each of mine) await each.settle(outcome);
  };
  for (const claimed of [redelivered(call, prepared, permit.decision.effect === 'ask'), act]) {
    if (!claimed) continue;
    const taken = await take(path, idempotency, call, permit.tool, claimed);
    if (taken.stage === 'first') {
      mine.push(taken);
      continue;
    }
    await settle(taken.outcome);
    return taken;
  }
  return { stage: 'first', settle };
}

/**
 * What is known of a call that was handed over again, before anybody is asked about it: the yes that the first one had is
 * used up, so asking would keep its end from whoever has a right to it.
 *
 * @returns undefined where it is no such call, or nothing is known of it
 */
export async function knownBefore(path: Path, call: Call, prepared: Prepared): Promise<Ended | Ran | undefined> {
  const { idempotency } = path;
  const claimed = idempotency && redelivered(call, prepared, true);
  if (!claimed) return undefined;
  const { key, argsDigest, isAct } = claimed;
  const told = await consult(path, call, (signal) => idempotency.find(key, { argsDigest }, signal));
  if (told.stage === 'ended') return told;
  return told.value && answer(call, prepared.tool, told.value, isAct);
}

async function take(
  path: Path,
  idempotency: IdempotencyLedger,
  call: Call,
  tool: ToolDefinition,
  { key, argsDigest, isAct }: Claimed,
): Promise<Ended | Ran | First> {
  const { callId } = call.ctx;
  const told = await consult(path, call, (signal) => idempotency.claim(key, { callId, argsDigest }, signal));
  if (told.stage === 'ended') return told;
  const claim = told.value;
  if (claim.kind !== 'mine') return answer(call, tool, claim, isAct);
  return { stage: 'first', settle: (outcome) => claim.settle(settlementOf(outcome, isAct)).catch(() => {}) };
}

async function consult<T extends LedgerClaim | undefined>(
  path: Path,
  call: Call,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<Ended | { readonly stage: 'told'; readonly value: T }> {
  const run = await withinLimits(({ signal }) => work(signal), {
    signal: call.signal,
    clock: path.clock,
    hardMs: call.hardMs,
  });
  switch (run.end) {
    case 'settled':
      return { stage: 'told', value: run.value };
    case 'threw':
      return ended(failed(unreadable(errorText(run.error)), 'not_executed'));
    case 'limit':
      if (run.late) await release(run.late.value);
      return ended(failed(stillRunning(run.ms), 'not_executed', { retryable: true }));
    case 'cancelled':
      if (run.late) await release(run.late.value);
      return ended(cancelled(call.signal, 'not_executed'));
  }
}

interface Claimed {
  readonly key: LedgerKey;
  /** What has to be the same the next time. */
  readonly argsDigest: string;
  /** An act of the tool's; else one call that may come again. */
  readonly isAct: boolean;
}

/**
 * An act is the same one whether it is called by the tool's own name or by a view's. Null: the tool says of no call, or
 * not of this one, what makes it the same act.
 */
function actOf(call: Call, permit: Permitted): Ended | Claimed | null {
  const tool = permit.tool.narrows?.of ?? permit.tool;
  if (!tool.idempotencyKey) return null;
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
  const server = tool.ref.server?.fingerprint ?? null;
  return {
    key: { agent, ...(user !== undefined && { user }), server, tool: tool.ref.tool, key },
    argsDigest: args.digest,
    isAct: true,
  };
}

/**
 * What only reads may run again, unless it would have to be asked about again. The tool, its definition, what it is told
 * and the arguments that came have to be the same: those that a hook or an approver put in their place are not the
 * caller's, who sends the same call.
 */
function redelivered({ ctx, request }: Call, { tool, args }: Prepared, isAsked: boolean): Claimed | null {
  const { redelivery, answers, who } = ctx;
  if (redelivery === undefined || (tool.effect === 'read' && !isAsked)) return null;
  const { ref } = tool;
  const same = [
    ref.server?.fingerprint ?? null,
    ref.tool,
    ref.fingerprint,
    boundDigest(args),
    answers?.responses ?? null,
  ];
  const { agent, user } = who;
  const { conversation } = request;
  return {
    key: { agent, ...(user !== undefined && { user }), server: null, tool: '', key: redelivery, conversation },
    argsDigest: sha256(canonicalJson(same)),
    isAct: false,
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

function otherCall(first: string): string {
  return `What names this call was given for another one (${first}): its tool, its arguments or its answers differ. Nothing was run. Make the call anew.`;
}

function stillRunning(ms: number): string {
  return `The same act was begun by another call and is still under way after ${ms} ms. This call was not run; ask again later for how that one ended.`;
}

function answer(call: Call, tool: ToolDefinition, claim: LedgerMemory, isAct: boolean): Ended | Ran {
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
      if (!isAct) return ended(failed(otherCall(first), 'not_executed', { category: 'validation' }));
      const text = `This act has been called before with other arguments (${first}): its idempotency key is the same, the arguments differ. Nothing was run. If it is meant to be another act, it needs what makes its key another one.`;
      return ended(failed(text, 'not_executed', { category: 'validation' }));
    }
  }
}

/** A claim that came after nobody waited for it any more. */
async function release(claim: LedgerClaim | undefined): Promise<void> {
  if (claim?.kind === 'mine') await claim.settle({ kind: 'released' }).catch(() => {});
}

/**
 * An error that the tool itself reports as a result frees the key of an act: it is the tool's word that the act failed, and
 * the next try is the caller's to decide. A call that is handed over again is no next try, so it is given that end too. What
 * nobody knows stays taken.
 */
function settlementOf(outcome: Outcome, isAct: boolean): LedgerSettlement {
  switch (outcome.kind) {
    case 'ok':
      return outcome.isError && isAct ? { kind: 'released' } : { kind: 'done', end: outcome };
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
