import type { Identity } from '../contracts/index.ts';

/** Who a caller is, as one text: what they may do at the moment is no part of it. */
export function principalOf({ via, agent, user }: Identity): string {
  return JSON.stringify([via, agent, user ?? null]);
}
