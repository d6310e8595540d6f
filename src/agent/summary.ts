import type { Json, Outcome, RawJson, Reason } from '../contracts/index.ts';
import { failureHint } from '../tools/index.ts';
import { isObject, textOf } from './blocks.ts';
import type { TriedCall } from './events.ts';

const LONGEST = 500;

/** How a call ended, for whoever takes over. */
export function summary(outcome: Outcome): Pick<TriedCall, 'outcome' | 'detail' | 'category' | 'partial'> {
  switch (outcome.kind) {
    case 'ok': {
      if (!outcome.isError) return { outcome: 'ok' };
      const { category, partial } = failureHint(outcome.raw);
      return {
        outcome: 'error',
        ...detail(errorText(outcome)),
        ...(category !== undefined && { category }),
        ...(partial !== undefined && { partial }),
      };
    }
    case 'input_required':
      return { outcome: outcome.kind };
    case 'unknown_tool':
    case 'invalid':
      return { outcome: outcome.kind, ...detail(reasonsText(outcome.reasons)), category: 'validation' };
    case 'denied':
    case 'parked':
      return { outcome: outcome.kind, ...detail(reasonsText(outcome.reasons)), category: 'permission' };
    case 'failed':
    case 'cancelled': {
      const { message, category, partial } = outcome.failure;
      return {
        outcome: outcome.kind,
        ...detail(message),
        category,
        ...(partial !== undefined && { partial: parsedOrText(partial) }),
      };
    }
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

function parsedOrText(raw: RawJson): Json {
  try {
    return raw.parse();
  } catch {
    return raw.text;
  }
}

function detail(text: string): { readonly detail?: string } {
  if (text === '') return {};
  return { detail: text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text };
}

function unreachable(outcome: never): never {
  throw new Error(`Unhandled outcome: ${JSON.stringify(outcome)}`);
}
