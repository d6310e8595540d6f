/**
 * What a run cost, reply by reply, and why. Tokens and prices are the provider's own figures; only how many of them are
 * definitions is estimated, since no reply tells it.
 */
import type { Json } from '../contracts/index.ts';
import { isObject } from './blocks.ts';
import type { RequestSize } from './request-size.ts';
import { addUsage, type CostOf, NO_USAGE } from './usage.ts';

/** What stood otherwise at the beginning of a request than in the one before: what was cached of it is lost from there on. */
export type CacheChange = 'tools' | 'system' | 'choice' | 'context';

/** One reply of the model. Tokens of the input are told apart: `inputTokens` holds those read and written too. */
export interface ReplyCost {
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  /** US dollars at list price; absent when the model's price isn't known. */
  readonly costUsd?: number;
  /** Of `inputTokens`, about how many are definitions of tools. */
  readonly definitionTokens: number;
  /** What had changed since the request before. */
  readonly changes: readonly CacheChange[];
  /** Tokens that the cache held after the reply before, and that this one didn't read from it. */
  readonly lostTokens: number;
  /** What reading these from the cache would have saved, US dollars. */
  readonly lostUsd?: number;
}

/** What a run cost, and where it went. */
export interface RunReport {
  /** In order; also those that were asked for once more because they were cut. */
  readonly replies: readonly ReplyCost[];
  /** Tools before the model in the last request: those that are deferred only once they were found. */
  readonly tools: number;
  /** Of all input tokens, the part that was definitions of tools: 0 to 1, an estimate. */
  readonly definitionsShare: number;
  /** Of all input tokens, the part that was read from the cache: 0 to 1. */
  readonly cachedShare: number;
}

/** A reply, and the request that it answered. */
export interface Answered {
  readonly size: RequestSize;
  readonly cost: ReplyCost;
}

/**
 * What one reply cost.
 *
 * @param before the reply before it in this run
 * @param usage the Messages API's `usage` of the reply
 */
export function replyCost(
  before: Answered | undefined,
  size: RequestSize,
  usage: Json,
  costOf: CostOf | undefined,
): ReplyCost {
  const { inputTokens, outputTokens, costUsd } = addUsage(NO_USAGE, usage, costOf);
  const cacheReadTokens = tokensOf(usage, 'cache_read_input_tokens');
  const held = before === undefined ? 0 : before.cost.cacheReadTokens + before.cost.cacheWriteTokens;
  const lostTokens = Math.max(0, held - cacheReadTokens);
  const lostUsd = lostTokens === 0 ? 0 : dearer(lostTokens, costOf);
  const definitions = size.definitions + size.found;
  const all = definitions + size.system + size.conversation;
  return {
    inputTokens,
    cacheReadTokens,
    cacheWriteTokens: tokensOf(usage, 'cache_creation_input_tokens'),
    outputTokens,
    ...(costUsd !== undefined && costOf !== undefined && { costUsd }),
    definitionTokens: all === 0 ? 0 : Math.round((inputTokens * definitions) / all),
    changes: before === undefined ? [] : changes(before.size, size),
    lostTokens,
    ...(lostUsd !== undefined && { lostUsd }),
  };
}

/** The whole of a run; undefined before its first reply. */
export function runReport(answered: readonly Answered[]): RunReport | undefined {
  const last = answered.at(-1);
  if (last === undefined) return undefined;
  const sum = (what: (cost: ReplyCost) => number) => answered.reduce((total, { cost }) => total + what(cost), 0);
  const input = sum((cost) => cost.inputTokens);
  const share = (part: number) => (input === 0 ? 0 : part / input);
  return {
    replies: answered.map(({ cost }) => cost),
    tools: last.size.tools,
    definitionsShare: share(sum((cost) => cost.definitionTokens)),
    cachedShare: share(sum((cost) => cost.cacheReadTokens)),
  };
}

/** In the order in which the cache reads: the first of them costs the most. */
function changes(before: RequestSize, now: RequestSize): readonly CacheChange[] {
  const found: readonly (readonly [CacheChange, boolean])[] = [
    ['tools', before.definitions !== now.definitions],
    ['system', before.system !== now.system],
    ['choice', before.choice !== now.choice],
    ['context', now.messages < before.messages],
  ];
  return found.flatMap(([change, isOne]) => (isOne ? [change] : []));
}

function dearer(tokens: number, costOf: CostOf | undefined): number | undefined {
  const written = costOf?.({ cache_creation_input_tokens: tokens });
  const read = costOf?.({ cache_read_input_tokens: tokens });
  return written === undefined || read === undefined ? undefined : written - read;
}

function tokensOf(usage: Json, name: string): number {
  const value = isObject(usage) ? usage[name] : undefined;
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}
