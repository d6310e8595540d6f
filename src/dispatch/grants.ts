import type { AskReply, Outcome } from '../contracts/index.ts';
import type { Call, Committed, Ended, Path } from './call-path.ts';
import { cancelled, ended, errorText, failed, shown } from './outcomes.ts';
import { quietly } from './quietly.ts';
import { withinLimits } from './within-limits.ts';

/** Remembers the permission behind a yes. The record gets the reply's data only. */
export function noteReply(call: Call, reply: AskReply): void {
  if (reply.answer !== 'allow' || reply.grant === undefined) {
    call.notes.asked = reply;
    return;
  }
  const { grant, ...said } = reply;
  call.notes.asked = said;
  call.notes.grants.push(grant);
}

/**
 * Takes the permissions that were given beforehand, between the intent and the run: a process that dies before this has
 * run nothing, one that dies after it can't have the same permission again.
 */
export async function claim(path: Path, call: Call, committed: Committed): Promise<Ended | Committed> {
  for (const grant of call.notes.grants) {
    call.notes.claims.push(grant);
    const run = await withinLimits(() => grant.claim(call.ctx.callId), {
      signal: call.signal,
      clock: path.clock,
      hardMs: call.hardMs,
    });
    switch (run.end) {
      case 'settled':
        if (run.value?.claimed === true) continue;
        return notClaimed(grant.id, shown(run.value?.why ?? 'it was not granted'));
      case 'threw':
        return notClaimed(grant.id, errorText(run.error));
      case 'limit':
        return notClaimed(grant.id, `no answer within ${run.ms} ms`);
      case 'cancelled':
        return ended(cancelled(call.signal, 'not_executed'));
    }
  }
  return committed;
}

function notClaimed(id: string, why: string): Ended {
  const text =
    `The approval ${shown(id, 80)} could not be used, so the call was not run: ${why.replace(/[.\s]+$/, '')}. ` +
    'Make the call again to have it approved anew.';
  return ended(failed(text, 'not_executed', { category: 'permission' }));
}

/** What was approved is not what would run now. Whether or not that can be written down, this call doesn't run. */
export async function voidGrants(path: Path, call: Call, why: string): Promise<void> {
  for (const grant of call.notes.grants) {
    await withinLimits(() => grant.void(why), { signal: call.signal, clock: path.clock, hardMs: call.hardMs });
  }
}

/** Tells each permission that this call took, or tried to take, how the call ended. */
export function settleGrants(call: Call, outcome: Outcome): void {
  for (const grant of call.notes.claims) quietly(() => grant.settle(outcome));
}
