import type { Decision } from '../contracts/index.ts';

/** Policies are foreign code: what doesn't look like a decision is none. */
export function isDecision(value: unknown): value is Decision {
  if (typeof value !== 'object' || value === null || !('effect' in value) || !('reasons' in value)) return false;
  return ['allow', 'ask', 'deny'].includes(String(value.effect)) && Array.isArray(value.reasons);
}
