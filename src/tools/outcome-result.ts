import type { Json, JsonObject, Outcome, RawJson, Reason } from '../contracts/index.ts';
import { failureToWire } from './failure.ts';
import { modelContent } from './model-content.ts';

/** Bound for results that dispatch did not shape, in UTF-16 units. */
const MAX_CHARS = 100_000;

/**
 * The `tool_result` block that answers a `tool_use` for this end of its call. Whatever isn't an answer of the tool is
 * an error in the wire form of failures, so that the model can tell what to do next.
 *
 * @param toolUseId the `id` of the `tool_use` block
 */
export function outcomeToToolResult(toolUseId: string, outcome: Outcome): JsonObject {
  const block = { type: 'tool_result', tool_use_id: toolUseId };
  switch (outcome.kind) {
    case 'ok': {
      const { isError } = outcome;
      const content = outcome.content ?? modelContent(outcome.raw, { maxChars: MAX_CHARS, isError });
      return { ...block, content, ...(isError && { is_error: true }) };
    }
    case 'failed':
    case 'cancelled':
      return { ...block, content: JSON.stringify(failureToWire(outcome.failure)), is_error: true };
    case 'invalid':
      return { ...block, ...error('validation', true, outcome.reasons) };
    case 'unknown_tool':
      return { ...block, ...error('validation', false, outcome.reasons) };
    case 'denied':
      return { ...block, ...error('permission', false, outcome.reasons) };
    case 'parked':
      return { ...block, ...error('permission', false, outcome.reasons, { approval: outcome.approval }) };
    case 'input_required':
      return { ...block, ...inputRequired(outcome.requests) };
    default:
      return unreachable(outcome);
  }
}

const FALLBACK: Readonly<Record<'validation' | 'permission', string>> = {
  validation: "The call doesn't fit any available tool.",
  permission: 'This call is not allowed.',
};

function error(
  category: 'validation' | 'permission',
  retryable: boolean,
  reasons: readonly Reason[],
  more: JsonObject = {},
): JsonObject {
  const said = reasons.map((reason) => reason.text).join('\n') || FALLBACK[category];
  const waits = typeof more.approval === 'string';
  const description = waits
    ? `The call waits for approval ${JSON.stringify(more.approval)} and has not run. ${said}`.trim()
    : said;
  const wire = { errorCategory: category, isRetryable: retryable, description, outcome: 'not_executed', ...more };
  return { content: JSON.stringify(wire), is_error: true };
}

function inputRequired(requests: RawJson): JsonObject {
  const wire = {
    errorCategory: 'business',
    isRetryable: false,
    description: 'The tool needs an answer that only the user can give, and nobody here could be asked.',
    outcome: 'unknown',
    requests: parsed(requests),
  };
  return { content: JSON.stringify(wire), is_error: true };
}

function parsed(raw: RawJson): Json {
  try {
    return raw.parse();
  } catch {
    return raw.text;
  }
}

function unreachable(outcome: never): never {
  throw new TypeError(`Unknown outcome: ${JSON.stringify(outcome)}`);
}
