import type { CallContext, Failure, Json, JsonObject, SourceResult } from '../../contracts/index.ts';
import { rawFrom } from '../../tools/index.ts';
import { CODES } from '../wire/index.ts';
import { McpError } from './errors.ts';
import { isObject } from './message.ts';

/** Stands where a modern server's state would: what is answered is an error of the legacy era. */
const STATE = 'bridle:url-elicitation-required';

/**
 * The legacy era's way to want a page visited before a call (MCP 2025-11-25, URL elicitation required error), as the
 * question that a modern server would ask. The call has not run.
 */
export function urlRequired(error: unknown): SourceResult | undefined {
  if (!(error instanceof McpError) || error.rpc?.code !== CODES.urlElicitationRequired) return undefined;
  const data = error.rpc.data?.parse();
  const asked = isObject(data) && Array.isArray(data.elicitations) ? data.elicitations : [];
  const requests = asked.flatMap((params, at): [string, Json][] =>
    isObject(params) && params.mode === 'url' ? [[`url-${at + 1}`, { method: 'elicitation/create', params }]] : [],
  );
  if (requests.length === 0 || requests.length < asked.length) return undefined;
  return { kind: 'input_required', requests: rawFrom(Object.fromEntries(requests)), state: STATE };
}

/** What the second leg of such an exchange adds to the call: nothing, if the person agreed; else it isn't made. */
export function secondLeg(
  answers: CallContext['answers'],
): { readonly params: JsonObject } | { readonly failure: Failure } {
  if (!answers) return { params: {} };
  const { responses, state } = answers;
  if (state !== STATE) {
    return { params: { inputResponses: responses, ...(state !== undefined && { requestState: state }) } };
  }
  const given = isObject(responses) ? Object.values(responses) : [];
  if (given.length > 0 && given.every((each) => isObject(each) && each.action === 'accept')) return { params: {} };
  const message = 'The server wants a page visited first, and the person did not agree to that. The call has not run.';
  return {
    failure: { category: 'permission', retryable: false, message, executed: 'not_executed', attempts: [] },
  };
}
