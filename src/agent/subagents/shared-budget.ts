import type { Json, LoopEvent } from '../../contracts/index.ts';
import type { RunUsage } from '../events.ts';
import type { EffectiveLimits } from '../limits.ts';
import { addUsage, type CostOf } from '../usage.ts';

type Spent = Pick<EffectiveLimits, 'tokens' | 'costUsd'>;

/** What a run and those that it started may use together. Those that are under way are stopped when it is used up. */
export class SharedBudget {
  readonly #limits: Spent;
  readonly #costOf: CostOf | undefined;
  readonly #open = new Set<() => void>();
  #usage: RunUsage;

  /** @param usage of the run before it went on */
  constructor(limits: Spent, usage: RunUsage, costOf: CostOf | undefined) {
    this.#limits = limits;
    this.#usage = usage;
    this.#costOf = costOf;
  }

  /** An event of the run itself. */
  event(event: LoopEvent): void {
    if (event.type === 'model') this.#add(event.usage, this.#costOf);
  }

  /** What is left, as limits of another run; null: nothing. */
  left(): Partial<Spent> | null {
    const { tokens, costUsd } = this.#left();
    if (tokens <= 0 || costUsd <= 0) return null;
    return { ...(Number.isFinite(tokens) && { tokens }), ...(Number.isFinite(costUsd) && { costUsd }) };
  }

  /**
   * A run begins that this one started.
   *
   * @param stop is called once when nothing is left
   * @returns `used` takes the `usage` of each of its replies
   */
  begin(costOf: CostOf, stop: () => void): { used(usage: Json): void; end(): void } {
    this.#open.add(stop);
    return { used: (usage) => this.#add(usage, costOf), end: () => void this.#open.delete(stop) };
  }

  #add(usage: Json, costOf: CostOf | undefined): void {
    this.#usage = addUsage(this.#usage, usage, costOf);
    if (this.left() !== null) return;
    // Once the event has been taken: a run whose last reply this was has its answer, and isn't stopped any more.
    queueMicrotask(() => {
      const open = [...this.#open];
      this.#open.clear();
      for (const stop of open) stop();
    });
  }

  #left(): Spent {
    const { inputTokens, outputTokens, costUsd = 0 } = this.#usage;
    return {
      tokens: this.#limits.tokens - inputTokens - outputTokens,
      costUsd: this.#limits.costUsd - costUsd,
    };
  }
}
