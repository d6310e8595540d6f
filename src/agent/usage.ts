import type { Json } from '../contracts/index.ts';
import { usageApart } from '../models/index.ts';
import { isObject } from './blocks.ts';
import type { RunUsage } from './events.ts';

/** What a reply's `usage` costs in US dollars; `undefined` where no price is known. */
export type CostOf = (usage: Json) => number | undefined;

/** Nothing used yet. The cost is zero until a reply comes whose price isn't known. */
export const NO_USAGE: RunUsage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

/**
 * Adds one reply's `usage` (Messages API: `input_tokens` doesn't count what was read from or written to the cache, and no summing up). One
 * reply of unknown price makes the total's unknown: half a sum would be a wrong one.
 */
export function addUsage(total: RunUsage, usage: Json, costOf: CostOf | undefined): RunUsage {
  const cost = costOf?.(usage);
  const parts = [usage, ...usageApart(usage).map((apart) => apart.usage)];
  const field = (name: string) => parts.reduce<number>((sum, part) => sum + countIn(part, name), 0);
  return {
    inputTokens:
      total.inputTokens +
      field('input_tokens') +
      field('cache_creation_input_tokens') +
      field('cache_read_input_tokens'),
    outputTokens: total.outputTokens + field('output_tokens'),
    ...(cost !== undefined && total.costUsd !== undefined && { costUsd: total.costUsd + cost }),
  };
}

function countIn(usage: Json, name: string): number {
  const value = isObject(usage) ? usage[name] : undefined;
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** Adds what a run used that a call of this one started. */
export function addStarted(total: RunUsage, started: RunUsage): RunUsage {
  const isKnown = total.costUsd !== undefined && started.costUsd !== undefined;
  return {
    inputTokens: total.inputTokens + started.inputTokens,
    outputTokens: total.outputTokens + started.outputTokens,
    ...(isKnown && { costUsd: (total.costUsd ?? 0) + (started.costUsd ?? 0) }),
  };
}
