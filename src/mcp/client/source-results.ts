import type { Failure, RawJson, SourceResult } from '../../contracts/index.ts';
import { CODES } from '../wire/index.ts';
import { McpError, messageOf } from './errors.ts';
import { isObject, rawMember } from './message.ts';

/** Codes that say that the request itself was wrong: another try with the same arguments gives the same answer. */
const REFUSED: ReadonlySet<number> = new Set([
  CODES.invalidParams,
  CODES.invalidRequest,
  CODES.unknownMethod,
  CODES.noResource,
]);

/** Codes that say that the server doesn't let us in. */
const NO_ENTRY: ReadonlySet<string> = new Set(['mcp_unauthorized', 'mcp_forbidden']);

/**
 * Why a request came to nothing, for whoever made it.
 *
 * @param what for the message, such as a tool's name
 */
export function failureOf(error: unknown, what: string): Failure {
  if (!(error instanceof McpError)) {
    return {
      category: 'transient',
      retryable: false,
      message: `The call of ${what} failed: ${messageOf(error)}`,
      executed: 'unknown',
      attempts: [],
    };
  }
  const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  const validation = error.rpc !== undefined && REFUSED.has(error.rpc.code);
  return {
    category: validation ? 'validation' : NO_ENTRY.has(error.code) ? 'permission' : 'transient',
    retryable: error.passing,
    message,
    executed: error.executed,
    attempts: [],
    ...(error.rpc?.data && { partial: error.rpc.data }),
    ...requiredBy(error),
  };
}

/** What a server of 2026-07-28 wants that the caller of this very request didn't declare. */
function requiredBy({ rpc }: McpError): Pick<Failure, 'requires'> {
  if (rpc?.code !== CODES.missingCapability) return {};
  const data = rpc.data?.parse();
  const required = isObject(data) ? data.requiredCapabilities : undefined;
  return isObject(required) ? { requires: required } : {};
}

/** A result as it arrived; only its envelope is looked at. */
export function resultOf(what: string, raw: RawJson): SourceResult {
  const result = raw.parse();
  const type = isObject(result) ? (result.resultType ?? 'complete') : undefined;
  if (!isObject(result) || (type !== 'complete' && type !== 'input_required')) {
    return {
      kind: 'failure',
      failure: {
        category: 'transient',
        retryable: false,
        message: `The server's answer to ${what} is no result: ${type === undefined ? 'not an object' : `resultType ${JSON.stringify(type)}`}.`,
        executed: 'executed',
        attempts: [],
        partial: raw,
      },
    };
  }
  if (type === 'input_required') {
    const requests = rawMember(raw, 'inputRequests') ?? { text: '{}', parse: () => ({}) };
    return {
      kind: 'input_required',
      requests,
      ...(typeof result.requestState === 'string' && { state: result.requestState }),
    };
  }
  return { kind: 'result', raw, isError: result.isError === true };
}
