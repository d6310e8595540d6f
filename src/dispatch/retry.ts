import type { Failure, Outcome, ToolDefinition } from '../contracts/index.ts';
import { failureHint } from '../tools/index.ts';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4_000;

/**
 * Only what is known not to have run, or what does no harm when it runs twice, is repeated; and only if the failure
 * says that another try, with the same arguments, may go well.
 */
export function mayRepeat(failure: Failure, tool: ToolDefinition): boolean {
  if (!failure.retryable || failure.category !== 'transient') return false;
  if (failure.executed === 'not_executed') return true;
  return tool.effect === 'read' || tool.effect === 'idempotent';
}

/**
 * The failure that a call ended with, or that a result which its tool calls an error says it is. Such a result is the
 * tool's word alone: whether it took effect is not known by it. Null for the end of an agent that was started, too: it has
 * tried again by itself.
 */
export function failureOf(outcome: Outcome): Failure | null {
  if (outcome.kind === 'failed') return outcome.run ? null : outcome.failure;
  if (outcome.kind !== 'ok' || !outcome.isError || outcome.run) return null;
  const { category = 'transient', retryable = false } = failureHint(outcome.raw);
  const message = 'the tool called its result an error.';
  return { category, retryable, message, executed: 'unknown', attempts: [] };
}

/** How long to wait after the nth failed attempt, in milliseconds: doubled each time, capped, the same every time. */
export function backoffMs(nth: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** (nth - 1), LONGEST_WAIT_MS);
}

/** The last failure, with what was tried before it. */
export function withAttempts(failure: Failure, attempts: readonly string[]): Failure {
  return { ...failure, attempts: [...attempts] };
}
