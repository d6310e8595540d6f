import type { Failure, JsonObject, Outcome, Reason } from '../../contracts/index.ts';
import { failureToWire } from '../../tools/index.ts';
import { isObject } from './is-object.ts';

/** How one call is answered: with a result, with a request for input (2026-07-28), or as if the tool weren't there. */
export type McpAnswer =
  /** `text` is `result` as JSON; a tool's own is as it was received. */
  | { readonly kind: 'result'; readonly result: JsonObject; readonly text: string }
  | { readonly kind: 'input_required'; readonly result: JsonObject }
  | { readonly kind: 'unknown_tool' }
  /** The request was wrong as one of the protocol. */
  | { readonly kind: 'bad_request'; readonly message: string }
  /** It wants what the caller never declared. `otherwise` is for one of a revision that has no such error. */
  | { readonly kind: 'lacks'; readonly requires: JsonObject; readonly otherwise: McpAnswer & { kind: 'result' } };

function sentences(reasons: readonly Reason[], otherwise: string): string {
  return reasons.length === 0 ? otherwise : reasons.map((reason) => reason.text).join(' ');
}

function notRun(category: Failure['category'], message: string): Failure {
  return { category, retryable: false, message, executed: 'not_executed', attempts: [] };
}

function failed(failure: Failure, more: JsonObject = {}): McpAnswer & { kind: 'result' } {
  const text = JSON.stringify({ ...failureToWire(failure), ...more });
  const result: JsonObject = { content: [{ type: 'text', text }], isError: true };
  return { kind: 'result', result, text: JSON.stringify(result) };
}

/** The result as the host gave it. One that can't be a result object would break the client, so it is named instead. */
function relayed(outcome: Extract<Outcome, { kind: 'ok' }>): McpAnswer {
  let value: unknown;
  try {
    value = outcome.raw.parse();
  } catch {
    value = undefined;
  }
  if (isObject(value)) return { kind: 'result', result: value, text: outcome.raw.text };
  return failed({
    category: 'business',
    retryable: false,
    message: 'The tool ran, but what it answered is not an MCP result.',
    executed: 'executed',
    attempts: [],
    partial: outcome.raw,
  });
}

/** Every end of a call, as MCP says it. */
export function outcomeToMcp(outcome: Outcome): McpAnswer {
  switch (outcome.kind) {
    case 'ok':
      return relayed(outcome);
    case 'input_required': {
      const result: JsonObject = { resultType: 'input_required', inputRequests: outcome.requests.parse() };
      if (outcome.state !== undefined) result.requestState = outcome.state;
      return { kind: 'input_required', result };
    }
    case 'unknown_tool':
      return { kind: 'unknown_tool' };
    case 'invalid':
      return failed(notRun('validation', sentences(outcome.reasons, 'The arguments are not valid.')));
    case 'denied':
      return failed(notRun('permission', sentences(outcome.reasons, 'This call is not allowed.')));
    case 'parked': {
      const why = sentences(outcome.reasons, 'A person has to approve this call.');
      return failed(notRun('permission', `${why} It waits as approval ${outcome.approval}.`), {
        approval: outcome.approval,
      });
    }
    case 'failed':
    case 'cancelled':
      if (outcome.failure.badRequest) return { kind: 'bad_request', message: outcome.failure.message };
      if (outcome.failure.requires) {
        return { kind: 'lacks', requires: outcome.failure.requires, otherwise: failed(outcome.failure) };
      }
      return failed(outcome.failure);
    default:
      return outcome satisfies never;
  }
}
