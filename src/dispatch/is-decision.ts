import type { Decision } from '../contracts/index.ts';

const EFFECTS: ReadonlySet<unknown> = new Set(['allow', 'ask', 'deny']);

/** Policies are foreign code: what doesn't look like a decision is none. */
export function isDecision(value: unknown): value is Decision {
  if (typeof value !== 'object' || value === null || !('effect' in value) || !('reasons' in value)) return false;
  return EFFECTS.has(value.effect) && Array.isArray(value.reasons);
}
