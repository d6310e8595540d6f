/**
 * Rule of this file: how a conversation is kept within a model's context window is said once, by the caller, and never
 * changes what a run's result holds.
 */
import type { Json, JsonObject } from '../contracts/index.ts';
import { BridleError } from '../tools/index.ts';

/** How a long conversation is kept short for the model. What is left out of a request stays in `result.messages`. */
export interface ContextOptions {
  /**
   * Sends what was said in the last so many runs, this one included, and a note that something is left out. Thinking of
   * the runs before this one is left out then, as it belongs to the longer conversation. For any model.
   */
  readonly keepRuns?: number;
  /** Claude: results of older calls are taken out of the prompt (Messages API `clear_tool_uses_20250919`). */
  readonly clearResults?: true | ClearResultsOptions;
  /** Claude: thinking of all but the last so many turns is taken out (Messages API `clear_thinking_20251015`). */
  readonly clearThinking?: { readonly keep: number | 'all' };
  /** Claude: what was said so far is summed up by the model itself (Messages API `compact_20260112`). */
  readonly compact?: true | CompactOptions;
}

export interface ClearResultsOptions {
  /** Once the prompt has more input tokens than this. Default, of the API: 100,000. */
  readonly above?: number;
  /** This many calls keep their results. Default, of the API: 3. */
  readonly keep?: number;
  /** Only when it frees so many tokens: each clearing costs what the model has cached. */
  readonly atLeast?: number;
  /** Names of tools whose results stay. */
  readonly except?: readonly string[];
  /** Takes out the arguments of the calls, too. */
  readonly inputs?: boolean;
}

export interface CompactOptions {
  /** Once the prompt has more input tokens than this; at least 50,000. Default, of the API: 150,000. */
  readonly above?: number;
  /** Takes the place of the API's own prompt for the summary. */
  readonly instructions?: string;
}

/** The same, as a run's requests need it. */
export interface LoopContext {
  readonly keepRuns?: number;
  /** `context_management.edits` */
  readonly edits: readonly JsonObject[];
  readonly betas: readonly string[];
}

const EDITING_BETA = 'context-management-2025-06-27';
const COMPACT_BETA = 'compact-2026-01-12';
/** The API takes no smaller one. */
const LEAST_COMPACT = 50_000;

/**
 * @throws BridleError `context_invalid`
 */
export function loopContext(options: ContextOptions): LoopContext {
  const wrong = problem(options);
  if (wrong !== null) {
    throw new BridleError('context_invalid', `context: ${wrong}.`, {
      hint: 'Leave an option out to have its default.',
    });
  }
  const { keepRuns, clearResults, clearThinking, compact } = options;
  const edits: JsonObject[] = [];
  // The API wants thinking to come first.
  if (clearThinking) edits.push(thinkingEdit(clearThinking.keep));
  if (clearResults) edits.push(resultsEdit(clearResults === true ? {} : clearResults));
  const betas = edits.length > 0 ? [EDITING_BETA] : [];
  if (compact) {
    edits.push(compactEdit(compact === true ? {} : compact));
    betas.push(COMPACT_BETA);
  }
  return { edits, betas, ...(keepRuns !== undefined && { keepRuns }) };
}

function thinkingEdit(keep: number | 'all'): JsonObject {
  return { type: 'clear_thinking_20251015', keep: keep === 'all' ? 'all' : { type: 'thinking_turns', value: keep } };
}

function resultsEdit({ above, keep, atLeast, except, inputs }: ClearResultsOptions): JsonObject {
  return {
    type: 'clear_tool_uses_20250919',
    ...(above !== undefined && { trigger: inputTokens(above) }),
    ...(keep !== undefined && { keep: { type: 'tool_uses', value: keep } }),
    ...(atLeast !== undefined && { clear_at_least: inputTokens(atLeast) }),
    ...(except !== undefined && { exclude_tools: [...except] }),
    ...(inputs !== undefined && { clear_tool_inputs: inputs }),
  };
}

function compactEdit({ above, instructions }: CompactOptions): JsonObject {
  return {
    type: 'compact_20260112',
    ...(above !== undefined && { trigger: inputTokens(above) }),
    ...(instructions !== undefined && { instructions }),
  };
}

function inputTokens(value: number): Json {
  return { type: 'input_tokens', value };
}

function problem({ keepRuns, clearResults, clearThinking, compact }: ContextOptions): string | null {
  if (keepRuns !== undefined && !isCount(keepRuns, 1)) return 'keepRuns must be a whole number above zero';
  if (keepRuns !== undefined && compact) return 'keepRuns forgets what compact sums up; give one of the two';
  if (clearThinking && clearThinking.keep !== 'all' && !isCount(clearThinking.keep, 1)) {
    return "clearThinking.keep must be a whole number above zero, or 'all'";
  }
  const { above, keep, atLeast } = typeof clearResults === 'object' ? clearResults : {};
  for (const [name, value, least] of [
    ['clearResults.above', above, 1],
    ['clearResults.keep', keep, 0],
    ['clearResults.atLeast', atLeast, 1],
    ['compact.above', typeof compact === 'object' ? compact.above : undefined, LEAST_COMPACT],
  ] as const) {
    if (value !== undefined && !isCount(value, least)) return `${name} must be a whole number, ${least} or more`;
  }
  return null;
}

function isCount(value: unknown, least: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least;
}
