import type { Identity, Json } from '../../contracts/index.ts';
import { BridleError, compileSchema } from '../../tools/index.ts';
import type { ApprovalDecision, ApprovalRecord } from './record.ts';
import { lastDecision } from './record.ts';
import type { Settings } from './settings.ts';

/** Who decides: a name for the record, and where it is a client of its own, who that is. */
export interface Approver {
  readonly name: string;
  readonly identity?: Identity;
}

/** @throws BridleError `approval_own_call` when it is the client that made the call */
export function refuseOwnCall(record: ApprovalRecord, { name, identity }: Approver, settings: Settings): void {
  if (settings.ownCalls) return;
  const { agent, user } = record.who;
  const isOwn = identity === undefined ? name === agent : identity.agent === agent && identity.user === user;
  if (!isOwn) return;
  throw new BridleError(
    'approval_own_call',
    `The approval ${record.id} can't be given by the client that asked for it.`,
    {
      hint: 'Let somebody else decide, or set ownCalls where that is meant.',
    },
  );
}

/** @throws BridleError `approval_args_invalid` when the tool doesn't take what the approver wants instead */
export async function checkArgs(record: ApprovalRecord, args: Json): Promise<void> {
  const refuse = (why: string) =>
    new BridleError('approval_args_invalid', `The changed arguments don't fit "${record.name}": ${why}.`, {
      hint: 'Give all arguments as one JSON object, as the tool takes them.',
    });
  if (typeof args !== 'object' || args === null || Array.isArray(args)) throw refuse('they are no JSON object');
  if (record.inputSchema === undefined) return;
  const issues = (await compileSchema(record.inputSchema, { origin: 'outside' })).check(args);
  if (issues.length === 0) return;
  const said = issues.slice(0, 5).map(({ path, message }) => `${path || 'they'}: ${message}`);
  throw refuse(said.join('; '));
}

const MOST_DECISIONS = 20;

/** The record with one more decision, or why it can't be decided on. */
export function decided(
  record: ApprovalRecord,
  decision: ApprovalDecision,
  settings: Pick<Settings, 'decidedMs'>,
): ApprovalRecord | { readonly left: BridleError } {
  switch (record.state) {
    case 'waiting':
    case 'approved':
    case 'denied':
      // A yes can be taken back however often somebody changed their mind.
      if (record.decisions.length >= MOST_DECISIONS && !(record.state === 'approved' && decision.answer === 'deny'))
        return { left: over(record, 'was decided on too often') };
      return {
        ...record,
        state: decision.answer === 'approve' ? 'approved' : 'denied',
        expiresAt: decision.at + settings.decidedMs,
        decisions: [...record.decisions, decision],
      };
    case 'used':
      return { left: over(record, `was used by the call ${record.used?.callId}`) };
    case 'expired':
      return { left: over(record, `has expired. ${record.ended?.why ?? ''}`.trim()) };
    case 'void':
      return { left: over(record, `is void. ${record.ended?.why ?? ''}`.trim()) };
  }
}

function over(record: ApprovalRecord, how: string): BridleError {
  return new BridleError('approval_over', `The approval ${record.id} ${how.replace(/[.\s]+$/, '')}.`, {
    hint: 'Have the call made again: it is then asked about anew.',
  });
}

/** What the caller is told of a no. */
export function denialText(record: ApprovalRecord, now: number): string {
  const said = lastDecision(record);
  const why = said?.reason === undefined ? 'No reason was given.' : said.reason;
  const minutes = Math.max(1, Math.ceil((record.expiresAt - now) / 60_000));
  return `${why} (approval ${record.id}; the answer stands for another ${spanText(minutes)}, so don't ask again)`;
}

function spanText(minutes: number): string {
  if (minutes < 120) return minutes === 1 ? 'minute' : `${minutes} minutes`;
  return `${Math.round(minutes / 60)} hours`;
}
