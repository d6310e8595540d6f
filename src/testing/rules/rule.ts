import type { JsonObject } from '../../contracts/index.ts';

/** One thing that the Messages API refuses. */
export interface Rule {
  /** Stable, kebab-case. */
  readonly id: string;
  /** @returns what is wrong, each with where it stands; empty for a request that keeps the rule */
  check(body: JsonObject): readonly string[];
}
