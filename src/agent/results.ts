import type { Failure, JsonObject } from '../contracts/index.ts';
import { failureToWire } from '../tools/index.ts';
import type { PendingCall } from './reply.ts';

/** A call that the loop answers itself was never given to the dispatcher, so it can't have run. */
function unrun(call: PendingCall, category: Failure['category'], retryable: boolean, message: string): JsonObject {
  const wire = failureToWire({ category, retryable, message, executed: 'not_executed', attempts: [] });
  return {
    type: 'tool_result',
    tool_use_id: call.id,
    ...(call.toolset !== undefined && { toolset_name: call.toolset }),
    content: JSON.stringify(wire),
    is_error: true,
  };
}

/**
 * For a call that was left, when the run stopped or another call of its reply went wrong.
 *
 * @param next what to do about it
 */
export function notRunResult(call: PendingCall, why: string, next = ''): JsonObject {
  const message = `This call was not run: ${why}. It had no effect.${next === '' ? '' : ` ${next}`}`;
  return unrun(call, 'transient', true, message);
}

/** For arguments that aren't a JSON object. The text goes back in the form in which the API itself gives it. */
export function invalidInputResult(call: PendingCall, text: string): JsonObject {
  const message = 'This call was not run: its arguments are not a JSON object. Call again with one.';
  const result = unrun(call, 'validation', true, message);
  return { ...result, content: JSON.stringify({ INVALID_JSON: text.slice(0, 2_000), ...parse(result) }) };
}

/** For a member of a provider-defined toolset that isn't offered. */
export function toolsetResult(call: PendingCall): JsonObject {
  const message = `This call was not run: actions of the toolset "${call.toolset ?? ''}" are not supported here.`;
  return unrun(call, 'permission', false, message);
}

/** For one that is called as if it were a tool of its own. */
export function strayMemberResult(call: PendingCall): JsonObject {
  const message = `This call was not run: no tool has the name ${JSON.stringify(call.name)}. Call the toolset's own action.`;
  return unrun(call, 'validation', false, message);
}

/** For a question to the user, when the run ends with it. */
export function askedResult(call: PendingCall): JsonObject {
  return {
    type: 'tool_result',
    tool_use_id: call.id,
    content: JSON.stringify({ status: 'asked', answer: 'in the next user message' }),
  };
}

/** For a question without words. */
export function emptyQuestionResult(call: PendingCall): JsonObject {
  return unrun(
    call,
    'validation',
    true,
    'Nothing was asked: "question" must be a text that says what you need to know.',
  );
}

function parse(result: JsonObject): JsonObject {
  return typeof result.content === 'string' ? (JSON.parse(result.content) as JsonObject) : {};
}
