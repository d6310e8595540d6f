import type { CallOutcomeRecord, Outcome } from '../../contracts/index.ts';
import { cutAt } from '../../tools/index.ts';
import { contentText, resultText } from './content.ts';
import type { Attributes } from './types.ts';

/** A name that no tool has is the model's own text. */
const LONGEST_NAME = 128;

/** The low-cardinality word for what went wrong; absent: nothing did, or it isn't over. */
export function errorType(outcome: Outcome): string | undefined {
  switch (outcome.kind) {
    case 'ok':
      return outcome.isError ? 'tool_error' : undefined;
    case 'input_required':
    case 'parked':
      return undefined;
    case 'failed':
      return outcome.failure.category;
    default:
      return outcome.kind;
  }
}

export function toolName({ name }: Pick<CallOutcomeRecord, 'name'>): string {
  return cutAt(name, LONGEST_NAME);
}

/** Everything of a call that isn't content. */
export function callAttributes(call: CallOutcomeRecord): Attributes {
  const { outcome, ref, decision, asked, answeredBy } = call;
  const server = ref?.server;
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': toolName(call),
    'gen_ai.tool.call.id': call.callId,
    ...(ref && { 'gen_ai.tool.type': server ? 'extension' : 'function' }),
    'gen_ai.conversation.id': call.conversation,
    'gen_ai.agent.name': call.who.agent,
    ...(server && { 'bridle.server': server.key }),
    ...(server && call.attempts > 0 && { 'mcp.method.name': 'tools/call' }),
    ...failure(outcome),
    'bridle.outcome': outcome.kind,
    'bridle.attempts': call.attempts,
    ...(decision && { 'bridle.decision': decision.effect, 'bridle.policy.version': decision.policyVersion }),
    ...(asked && { 'bridle.asked': asked.answer }),
    ...(answeredBy && { 'bridle.answered_by': answeredBy.callId }),
  };
}

function failure(outcome: Outcome): Attributes {
  const type = errorType(outcome);
  return {
    ...(type !== undefined && { 'error.type': type }),
    ...('failure' in outcome && { 'bridle.executed': outcome.failure.executed }),
  };
}

/** What the call was given and what came of it. */
export function callContent({ args, outcome }: CallOutcomeRecord): Attributes {
  return {
    'gen_ai.tool.call.arguments': contentText(args),
    ...(outcome.kind === 'ok' && { 'gen_ai.tool.call.result': resultText(outcome.raw) }),
  };
}
