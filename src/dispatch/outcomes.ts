import type { Executed, Failure, Outcome, RawJson, Reason } from '../contracts/index.ts';
import { type Abortable, printable } from '../tools/index.ts';
import type { Ended } from './call-path.ts';

/** Most wrong fields named in one answer; a model corrects these first. */
const MOST_ISSUES = 20;

export function reason(code: string, text: string): Reason {
  return { room: 'dispatch', code, text };
}

export function ended(outcome: Outcome): Ended {
  return { stage: 'ended', outcome };
}

export function refused(kind: 'unknown_tool' | 'invalid' | 'denied', reasons: readonly Reason[]): Ended {
  return ended({ kind, reasons });
}

/** A failed outcome; what isn't named is a transient failure that isn't worth a retry and had no attempts. */
export function failed(message: string, executed: Executed, more: Partial<Failure> = {}): Outcome {
  return {
    kind: 'failed',
    failure: { category: 'transient', retryable: false, message, executed, attempts: [], ...more },
  };
}

export function cancelled(signal: Abortable, executed: Executed, partial?: RawJson): Outcome {
  const effect = {
    not_executed: 'It did not run.',
    executed: 'It had already run.',
    unknown: 'It had been started, and whether it took effect is not known.',
  }[executed];
  const failure: Failure = {
    category: 'transient',
    retryable: false,
    message: `The call was cancelled${because(signal.reason)}. ${effect}`,
    executed,
    attempts: [],
    ...(partial && { partial }),
  };
  return { kind: 'cancelled', failure };
}

function because(cause: unknown): string {
  if (typeof cause === 'string' && cause !== '') return ` (${shown(cause)})`;
  if (cause instanceof Error && cause.name !== 'AbortError') return ` (${errorText(cause)})`;
  return '';
}

/** What a thrown value says, on one line, safe to show. */
export function errorText(error: unknown): string {
  try {
    return shown(error instanceof Error ? error.message || error.name : String(error));
  } catch {
    return 'no message';
  }
}

/** Foreign text, for a sentence. */
export function shown(text: unknown, maxLength = 300): string {
  return printable(String(text), { maxLength });
}

/** One reason a wrong field. `path` is a JSON Pointer (RFC 6901) into the value that was checked. */
export function issueReasons(issues: readonly { readonly path: string; readonly message: string }[]): Reason[] {
  const named = issues
    .slice(0, MOST_ISSUES)
    .map(({ path, message }) => reason('invalid_argument', `${path === '' ? 'The value' : path}: ${message}`));
  const more = issues.length - named.length;
  if (more > 0) named.push(reason('invalid_argument', `and ${more} more.`));
  return named;
}
