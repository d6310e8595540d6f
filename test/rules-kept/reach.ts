import type { JsonObject } from '../../src/contracts/index.ts';
import { MESSAGES_REQUEST_RULES, type Rule } from '../../src/testing/index.ts';
import { oneChange } from './changes.ts';

/** Which rules a change of one thing in some request would have broken: in those, the loop could have broken them. */
export class Reach {
  readonly reached = new Set<string>();
  readonly #left: Set<Rule>;

  /** @param ids of the rules that are looked for */
  constructor(ids: readonly string[]) {
    this.#left = new Set(MESSAGES_REQUEST_RULES.filter(({ id }) => ids.includes(id)));
  }

  get isDone(): boolean {
    return this.#left.size === 0;
  }

  /** Ids of the rules that no change has broken yet. */
  get missing(): readonly string[] {
    return [...this.#left].map(({ id }) => id);
  }

  /** @param request one that breaks no rule */
  look(request: JsonObject): void {
    if (this.isDone) return;
    for (const body of oneChange(request)) {
      for (const rule of this.#left) {
        if (rule.check(body).length === 0) continue;
        this.#left.delete(rule);
        this.reached.add(rule.id);
      }
    }
  }
}
