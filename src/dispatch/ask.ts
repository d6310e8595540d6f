import type { AskQuestion, AskReply, Decision, ToolDefinition } from '../contracts/index.ts';
import type { FixedArguments } from './arguments.ts';
import type { Call, Ended, Path } from './call-path.ts';
import type { Facts } from './facts.ts';
import { cancelled, ended, errorText, reason, refused, shown } from './outcomes.ts';
import { withinLimits } from './within-limits.ts';

export interface Question {
  readonly tool: ToolDefinition;
  readonly args: FixedArguments;
  readonly facts: Facts;
  readonly decision: Decision;
}

export type Allowed = Extract<AskReply, { answer: 'allow' }>;

/** Puts the question and reads the answer: only a clear yes goes on. A person has no time limit; cancelling ends it. */
export async function ask(path: Path, call: Call, question: Question): Promise<Ended | Allowed> {
  const { tool, args, facts, decision } = question;
  const { callId, who } = call.ctx;
  const run = await withinLimits(
    (scope) => {
      const asked: AskQuestion = {
        callId,
        who,
        tool,
        args: args.value(),
        ...(args.behind && { behind: args.behind.value() }),
        decision,
        signal: scope.signal,
        ...(facts.state === 'known' && { facts: facts.value }),
        ...(facts.state === 'missing' && { factsMissing: facts.why }),
      };
      return path.asker.ask(asked);
    },
    { signal: call.signal, clock: path.clock },
  );
  switch (run.end) {
    case 'settled':
      return read(call, run.value, decision);
    case 'threw':
      return refused('denied', [...decision.reasons, askFailed(errorText(run.error))]);
    case 'limit':
      return refused('denied', [...decision.reasons, askFailed(`no answer within ${run.ms} ms`)]);
    case 'cancelled':
      return ended(cancelled(call.signal, 'not_executed'));
  }
}

function read(call: Call, reply: AskReply, decision: Decision): Ended | Allowed {
  switch (reply?.answer) {
    case 'allow':
      return reply;
    case 'parked':
      call.notes.asked = reply;
      return ended({
        kind: 'parked',
        approval: reply.approval,
        reasons: [...decision.reasons, ...parkedReasons(reply)],
      });
    case 'deny':
      call.notes.asked = reply;
      return refused('denied', [...decision.reasons, notApproved(reply)]);
    default:
      return refused('denied', [...decision.reasons, askFailed('the answer was neither yes nor no')]);
  }
}

function parkedReasons({ reason: why }: Extract<AskReply, { answer: 'parked' }>) {
  return why === undefined ? [] : [reason('waits_for_approval', shown(why, 1_000))];
}

function notApproved({ by, reason: why }: Extract<AskReply, { answer: 'deny' }>) {
  const said = why === undefined || why.trim() === '' ? 'No reason was given.' : shown(why, 1_000);
  return reason('not_approved', `The call was not approved (by ${shown(by, 80)}): ${said}`);
}

function askFailed(why: string) {
  return reason('ask_failed', `The call needs approval, and the question could not be put: ${why}.`);
}
