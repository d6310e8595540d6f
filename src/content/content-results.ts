import { Buffer } from 'node:buffer';
import type { CompletionResult, Failure, JsonObject, SourceResult } from '../contracts/index.ts';
import { rawFrom, ToolFailure, toJson } from '../tools/index.ts';
import type { PromptReturn, ReadReturn, ResourceBody } from './own-content.ts';

/** Most values that a completion may have (MCP, Completion). */
export const MAX_COMPLETIONS = 100;

/** What an author's function gave, as MCP `ReadResourceResult`. */
export function readResult(uri: string, mimeType: string | undefined, returned: ReadReturn): SourceResult {
  const bodies = isBodies(returned) ? returned : [bodyOf(returned)];
  const contents = bodies.map((body): JsonObject => {
    const type = body.mimeType ?? mimeType;
    return {
      uri: body.uri ?? uri,
      ...(type !== undefined && { mimeType: type }),
      ...(body.bytes ? { blob: Buffer.from(body.bytes).toString('base64') } : { text: body.text ?? '' }),
    };
  });
  return { kind: 'result', raw: rawFrom({ contents }), isError: false };
}

function isBodies(returned: ReadReturn): returned is readonly ResourceBody[] {
  return Array.isArray(returned);
}

function bodyOf(returned: string | Uint8Array | ResourceBody): ResourceBody {
  if (typeof returned === 'string') return { text: returned };
  return returned instanceof Uint8Array ? { bytes: returned } : returned;
}

/** What an author's function gave, as MCP `GetPromptResult`. */
export function promptResult(description: string | undefined, returned: PromptReturn): SourceResult {
  const turns = typeof returned === 'string' ? [{ role: 'user' as const, content: returned }] : returned;
  const messages = turns.map(
    ({ role, content }): JsonObject => ({
      role,
      content: typeof content === 'string' ? { type: 'text', text: content } : toJson(content),
    }),
  );
  const raw = rawFrom({ ...(description !== undefined && { description }), messages });
  return { kind: 'result', raw, isError: false };
}

/** What an author's function gave, as MCP lets it be sent. */
export function completionResult(returned: readonly string[] | CompletionResult): CompletionResult {
  const given: CompletionResult = isValues(returned)
    ? { values: returned, total: returned.length, hasMore: returned.length > MAX_COMPLETIONS }
    : returned;
  const values = given.values.slice(0, MAX_COMPLETIONS);
  const hasMore = given.hasMore === true || given.values.length > values.length;
  return { values, ...(given.total !== undefined && { total: given.total }), hasMore };
}

function isValues(returned: readonly string[] | CompletionResult): returned is readonly string[] {
  return Array.isArray(returned);
}

/** A request that can't be met as it was made: word for word the same for what is hidden and what isn't there. */
export function refused(message: string): SourceResult {
  return {
    kind: 'failure',
    failure: { category: 'validation', retryable: false, message, executed: 'not_executed', attempts: [] },
  };
}

/** The answer about a resource that isn't there, or that the caller may not see. */
export const noSuchResource = (uri: string): SourceResult => refused(`There is no resource ${JSON.stringify(uri)}.`);

/** The answer about a prompt that isn't there, or that the caller may not see. */
export const noSuchPrompt = (name: string): SourceResult => refused(`There is no prompt ${JSON.stringify(name)}.`);

/** What an author's function threw; a stack never leaves the process. */
export function thrown(error: unknown, signal: AbortSignal): SourceResult {
  if (ToolFailure.is(error)) return { kind: 'failure', failure: error.failure };
  const why = error instanceof Error ? error.message || error.name : String(error);
  const failure: Failure = {
    category: signal.aborted ? 'transient' : 'business',
    retryable: false,
    message: signal.aborted ? `It was cancelled while it ran (${why}).` : why,
    executed: 'unknown',
    attempts: [],
  };
  return { kind: 'failure', failure };
}
