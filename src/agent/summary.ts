import type { Outcome, Reason } from '../contracts/index.ts';
import { isObject, textOf } from './blocks.ts';
import type { TriedCall } from './events.ts';

const LONGEST = 500;

/** How a call ended, in a line for whoever takes over. */
export function summary(outcome: Outcome): { readonly outcome: TriedCall['outcome']; readonly detail?: string } {
  switch (outcome.kind) {
    case 'ok':
      if (!outcome.isError) return { outcome: 'ok' };
      return { outcome: 'error', ...detail(errorText(outcome)) };
    case 'input_required':
      return { outcome: outcome.kind };
    case 'unknown_tool':
    case 'invalid':
    case 'denied':
    case 'parked':
      return { outcome: outcome.kind, ...detail(reasonsText(outcome.reasons)) };
    case 'failed':
    case 'cancelled':
      return { outcome: outcome.kind, ...detail(outcome.failure.message) };
    default:
      return unreachable(outcome);
  }
}

function reasonsText(reasons: readonly Reason[]): string {
  return reasons.map((reason) => reason.text).join(' ');
}

function errorText(outcome: Extract<Outcome, { kind: 'ok' }>): string {
  try {
    const result = outcome.raw.parse();
    return isObject(result) && Array.isArray(result.content) ? textOf(result.content) : '';
  } catch {
    return '';
  }
}

function detail(text: string): { readonly detail?: string } {
  if (text === '') return {};
  return { detail: text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text };
}

function unreachable(outcome: never): never {
  throw new Error(`Unhandled outcome: ${JSON.stringify(outcome)}`);
}
