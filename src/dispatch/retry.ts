import type { Failure, ToolDefinition } from '../contracts/index.ts';

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4_000;

/**
 * Only what is known not to have run, or what does no harm when it runs twice, is repeated; and only if the failure
 * says that another try may go well.
 */
export function mayRepeat(failure: Failure, tool: ToolDefinition): boolean {
  if (!failure.retryable) return false;
  if (failure.executed === 'not_executed') return true;
  return tool.effect === 'read' || tool.effect === 'idempotent';
}

/** How long to wait after the nth failed attempt, in milliseconds: doubled each time, capped, the same every time. */
export function backoffMs(nth: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** (nth - 1), LONGEST_WAIT_MS);
}

/** The last failure, with what was tried before it. */
export function withAttempts(failure: Failure, attempts: readonly string[]): Failure {
  return { ...failure, attempts: [...attempts] };
}
