import type { AskReply, Decision, Json, Origin, PolicyCall, Reason } from '../contracts/index.ts';
import { asProposed, SignalOnDemand } from '../tools/index.ts';
import { boundDigest, type FixedArguments, fixArguments } from './arguments.ts';
import { ask } from './ask.ts';
import type { Call, Ended, Path, Permitted, Prepared, Ran, ToolPreview } from './call-path.ts';
import { type Facts, gatherFacts, openFacts } from './facts.ts';
import { noteReply, voidGrants } from './grants.ts';
import { isDecision } from './is-decision.ts';
import { knownBefore } from './once.ts';
import { cancelled, ended, errorText, failed, reason, refused } from './outcomes.ts';
import { fitted } from './prepare.ts';
import { withinLimits } from './within-limits.ts';

/** Most rounds of decisions on one call: hooks, facts and people may each start a new one. */
const MOST_ROUNDS = 10;
/** Most times that hooks may change the arguments. */
const MOST_CHANGES = 3;
/** For a caller that doesn't keep the conversation: rules on labels then hold as they fail closed. */
const UNKNOWN_LABELS: ReadonlySet<string> = new Set(['unknown']);

/** What a person said yes to. It covers a call only while arguments and facts are the same. */
interface Approval {
  readonly digest: string;
  readonly facts: string | undefined;
}

/**
 * decide → preview → decide → ask → facts again → decide. The policy is asked anew whenever arguments or facts changed
 * and after every approval, so nothing runs on an answer that was given for something else.
 *
 * Ran: nobody has to be asked, as it is the very call that ran before, and isn't denied now.
 */
export async function decide(path: Path, call: Call, prepared: Prepared): Promise<Ended | Permitted | Ran> {
  let { args } = prepared;
  let facts = openFacts(prepared);
  let approval: Approval | undefined;
  let changes = 0;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    // A link may lead elsewhere, and a caller's choices may be others, than when somebody was last asked.
    const current: Ended | FixedArguments = prepared.tool.narrows ? await unfit(call, prepared, args) : args;
    if ('stage' in current)
      return approval ? voided(path, call, 'the view refuses the arguments now', current) : current;
    args = current;
    note(call, prepared, args, facts);
    const judged = await judge(path, call, prepared, args, facts);
    if ('stage' in judged) return judged;
    call.notes.decision = judged;
    // A preview has no preview of its own: two that name each other would never end.
    if (judged.effect === 'deny' && facts.state === 'not_gathered' && wantsFacts(judged) && !call.previewFor) {
      facts = await gatherFacts(path, call, prepared, args);
      if (call.signal.aborted) return ended(cancelled(call.signal, 'not_executed'));
      if (facts.state === 'known') continue;
    }
    if (judged.effect === 'deny') return refused('denied', judged.reasons);

    const changed = changedArguments(judged, args);
    if (changed) {
      changes += 1;
      const next = changed === 'unusable' ? notAnObject('A policy hook') : await unfit(call, prepared, changed);
      if ('stage' in next) return next;
      if (changes > MOST_CHANGES) break;
      args = next;
      facts = openFacts(prepared);
      continue;
    }
    if (call.previewFor) return permitPreview(call.previewFor, prepared, args, judged);
    if (judged.effect === 'allow' || covers(approval, args, facts)) {
      return permit(prepared, args, facts, judged, approval && call.notes.asked);
    }
    const known = approval ? undefined : await knownBefore(path, call, prepared);
    if (known) return known;
    if (facts.state === 'not_gathered') {
      facts = await gatherFacts(path, call, prepared, args);
      if (call.signal.aborted) return ended(cancelled(call.signal, 'not_executed'));
      if (facts.state === 'known') continue;
    }
    if (covers(approval, args, facts)) return permit(prepared, args, facts, judged, approval && call.notes.asked);

    const reply = await ask(path, call, { tool: prepared.tool, args, facts, decision: judged });
    if ('stage' in reply) return reply;
    noteReply(call, reply);
    const another = compareTool(path, call, prepared);
    if (another) return voided(path, call, 'the tool changed or went away', another);
    const edited = editedArguments(reply, args);
    if (edited) {
      const next = edited === 'unusable' ? notAnObject('The approver') : await unfit(call, prepared, edited);
      if ('stage' in next) return voided(path, call, "the approver's arguments don't fit the tool", next);
      args = next;
      facts = openFacts(prepared);
      // Nobody has seen what the new arguments would do, nor that it isn't known.
      if (facts.state === 'not_gathered') continue;
    } else {
      const moved = await compareFacts(path, call, prepared, args, facts);
      if (moved) return voided(path, call, 'the facts of the call changed', moved);
    }
    approval = { digest: boundDigest(args), facts: canonicalOf(facts) };
  }
  const text = 'The arguments or facts of this call kept changing while it was decided on, so it was not run.';
  return refused('denied', [reason('decision_not_settled', text)]);
}

function wantsFacts({ needs }: Decision): boolean {
  return Array.isArray(needs) && needs.includes('facts');
}

/** A call that was cancelled meanwhile says nothing about what was approved. */
async function voided(path: Path, call: Call, why: string, end: Ended): Promise<Ended> {
  if (end.outcome.kind !== 'cancelled') await voidGrants(path, call, why);
  return end;
}

function note(call: Call, prepared: Prepared, args: FixedArguments, facts: Facts): void {
  const { tool } = prepared;
  const proposed = prepared.proposed?.args ?? prepared.args;
  call.notes.args = args;
  if (args === proposed || args.digest === proposed.digest) delete call.notes.proposed;
  else call.notes.proposed = proposed;
  if (tool.narrows && args.behind) call.notes.behind = { ref: tool.narrows.of.ref, args: args.behind };
  const origins = originsOf(call, prepared, args);
  if (origins) call.notes.origins = origins;
  else delete call.notes.origins;
  if (facts.state === 'known') call.notes.facts = facts.value;
  else delete call.notes.facts;
}

/**
 * Who keeps the conversation is foreign code too: what it can't say isn't known. A value whose letter case was put right
 * came from where it was found as it was.
 */
function originsOf(
  { request }: Call,
  { tool, proposed }: Prepared,
  args: FixedArguments,
): ReadonlyMap<string, Origin> | undefined {
  try {
    return request.provenance?.origins(asProposed(args.value(), proposed?.corrections ?? []), tool.inputSchema);
  } catch {
    return undefined;
  }
}

/** The call as the policy sees it. */
class JudgedCall extends SignalOnDemand implements PolicyCall {
  readonly args: Json;
  readonly labels: ReadonlySet<string>;
  readonly at: number;
  readonly conversation: string;
  readonly callId: string;
  // Only where there is something in them: a policy looks at what is there.
  declare readonly behind?: Json;
  declare readonly facts?: Json;
  declare readonly origins?: ReadonlyMap<string, Origin>;

  constructor(path: Path, { ctx, request, notes }: Call, args: FixedArguments, facts: Facts) {
    super(ctx);
    this.args = args.value();
    this.labels = request.provenance?.labels ?? UNKNOWN_LABELS;
    this.at = path.clock.now();
    this.conversation = request.conversation;
    this.callId = ctx.callId;
    if (args.behind) this.behind = args.behind.value();
    if (facts.state === 'known') this.facts = facts.value;
    if (notes.origins) this.origins = notes.origins;
  }
}

/** Asks the policy, guarded: one that throws, hangs or answers nonsense denies. */
async function judge(
  path: Path,
  call: Call,
  { tool }: Prepared,
  args: FixedArguments,
  facts: Facts,
): Promise<Ended | Decision> {
  const run = await withinLimits(
    () => path.policy.decide(call.ctx.who, tool, new JudgedCall(path, call, args, facts)),
    { signal: call.signal, clock: path.clock, hardMs: call.hardMs },
  );
  switch (run.end) {
    case 'settled':
      return isDecision(run.value) ? run.value : policyFailed('it gave an answer that is none');
    case 'threw':
      return policyFailed(errorText(run.error));
    case 'limit':
      return policyFailed(`it gave no answer within ${run.ms} ms`);
    case 'cancelled':
      return ended(cancelled(call.signal, 'not_executed'));
  }
}

function policyFailed(why: string): Ended {
  const text = `The policy could not decide on this call, so it was not run: ${why}. Its owner has to mend the policy.`;
  return refused('denied', [reason('policy_failed', text)]);
}

/** The arguments that a hook wants instead, if they differ. */
function changedArguments(decision: Decision, args: FixedArguments): FixedArguments | 'unusable' | undefined {
  return decision.input === undefined ? undefined : replaced(decision.input, args);
}

/** The arguments that the approver wants instead, if they differ. */
function editedArguments(reply: AskReply, args: FixedArguments): FixedArguments | 'unusable' | undefined {
  return reply.answer === 'allow' && reply.args !== undefined ? replaced(reply.args, args) : undefined;
}

function replaced(value: Json, args: FixedArguments): FixedArguments | 'unusable' | undefined {
  const next = fixArguments(value);
  if (!next) return 'unusable';
  return next.digest === args.digest ? undefined : next;
}

function notAnObject(who: string): Ended {
  const text = `${who} changed the arguments to something that isn't a JSON object, so the call was not run.`;
  return refused('denied', [reason('changed_arguments_invalid', text)]);
}

/** Arguments that somebody else changed are not the model's to correct: what doesn't fit ends as a denial. */
async function unfit(call: Call, { tool }: Prepared, args: FixedArguments): Promise<Ended | FixedArguments> {
  const bad = await fitted(call, tool, args);
  if (!('stage' in bad) || bad.outcome.kind !== 'invalid') return bad;
  const text = 'The arguments were changed after the call was made, and no longer fit the tool, so it was not run.';
  return refused('denied', [reason('changed_arguments_invalid', text), ...bad.outcome.reasons]);
}

/** A question may stand for hours, and a server may change its tools meanwhile: a yes to one tool is none to another. */
function compareTool(path: Path, call: Call, { tool, source }: Prepared): Ended | undefined {
  const now = path.find(call.request.name);
  if (now?.source === source && now.tool.ref.fingerprint === tool.ref.fingerprint) return undefined;
  const text =
    `The tool "${tool.ref.name}" is not the one that was approved any more: its definition changed, or it is gone. ` +
    'It was not run. If it is still listed, make the call again to have it approved as it is now.';
  return ended(failed(text, 'not_executed', { category: 'business' }));
}

/** After an approval the preview runs again: what was approved must still be what would happen. */
async function compareFacts(
  path: Path,
  call: Call,
  prepared: Prepared,
  args: FixedArguments,
  approved: Facts,
): Promise<Ended | undefined> {
  if (approved.state !== 'known') return undefined;
  const now = await gatherFacts(path, call, prepared, args);
  if (call.signal.aborted) return ended(cancelled(call.signal, 'not_executed'));
  if (now.state === 'known' && now.canonical === approved.canonical) return undefined;
  // What a view keeps back of results the model isn't told by way of the facts either.
  if (prepared.tool.narrows?.result) {
    const text = 'The facts of this call changed after it was approved, so it was not run. Make the call again.';
    return ended(failed(text, 'not_executed', { category: 'business' }));
  }
  const found = now.state === 'known' ? `now they are ${now.canonical}` : missingNow(now);
  const text =
    `The facts of this call changed after it was approved, so it was not run: ${approved.canonical} was approved, ` +
    `${found}. Make the call again to have it approved with the new facts.`;
  return ended(failed(text, 'not_executed', { category: 'business' }));
}

function missingNow(facts: Facts): string {
  return `and now they can't be had (${facts.state === 'missing' ? facts.why : 'there is no preview'})`;
}

function covers(approval: Approval | undefined, args: FixedArguments, facts: Facts): boolean {
  if (!approval || facts.state === 'not_gathered') return false;
  return approval.digest === boundDigest(args) && approval.facts === canonicalOf(facts);
}

function canonicalOf(facts: Facts): string | undefined {
  return facts.state === 'known' ? facts.canonical : undefined;
}

function permit(
  { tool, source }: Prepared,
  args: FixedArguments,
  facts: Facts,
  decision: Decision,
  asked: AskReply | undefined,
): Permitted {
  return {
    stage: 'permitted',
    tool,
    source,
    args,
    decision,
    ...(facts.state === 'known' && { facts: facts.value }),
    ...(asked && { asked }),
  };
}

/**
 * A preview runs before anybody approved anything, so it must be allowed without a question, and be known to only read:
 * by its definition, or because the person's own configuration maps it or allows it by name.
 */
function permitPreview(
  plan: ToolPreview,
  prepared: Prepared,
  args: FixedArguments,
  decision: Decision,
): Ended | Permitted {
  if (decision.effect !== 'allow') return refused('denied', [previewRefused(plan, "isn't allowed without a question")]);
  const vouched = plan.by === 'config' || decision.reasons.some(({ code }) => code === 'allow_rule');
  if (prepared.tool.effect === 'read' || vouched) return permit(prepared, args, { state: 'none' }, decision, undefined);
  return refused('denied', [previewRefused(plan, "isn't known to only read")]);
}

function previewRefused(plan: ToolPreview, why: string): Reason {
  const text = `A preview runs before approval, and "${plan.tool}" ${why}. Allow it by name, or map it in bridle.json.`;
  return reason('preview_not_allowed', text);
}
