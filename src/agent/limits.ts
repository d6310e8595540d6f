import type { RunUsage } from './events.ts';

/** What a run may take. A limit is a safety net: a run that is well set up doesn't meet it. */
export interface RunLimits {
  /** Most model replies. Default 50. */
  readonly turns?: number;
  /** Most calls given to the dispatcher. Default 200. */
  readonly toolCalls?: number;
  /** Most tokens, input and output of all replies together. Default: none. */
  readonly tokens?: number;
  /** Longest run in milliseconds, waiting for the user's approval included. Default 30 minutes. */
  readonly ms?: number;
  /** Most US dollars. Default: none. Only for models whose price is known. */
  readonly costUsd?: number;
  /** The same call, failing again with the same arguments, this many times ends the run. Default 3. */
  readonly identicalFailures?: number;
  /**
   * This many calls that aren't allowed, or wait for an approval, end the run, so that it is handed over to somebody who
   * may decide; 1 ends it at the first. Default: none, the model is told and goes on.
   */
  readonly denials?: number;
  /** Most replies in a row that only ask to be sent back (`pause_turn`, `compaction`). Default 10. */
  readonly pauses?: number;
}

export const LIMIT_NAMES = [
  'turns',
  'toolCalls',
  'tokens',
  'ms',
  'costUsd',
  'identicalFailures',
  'denials',
  'pauses',
] as const;
type LimitName = (typeof LIMIT_NAMES)[number];

/** Every limit; infinite where there is none. */
export type EffectiveLimits = Readonly<Record<LimitName, number>>;

export function effectiveLimits(limits: RunLimits = {}): EffectiveLimits {
  return {
    turns: limits.turns ?? 50,
    toolCalls: limits.toolCalls ?? 200,
    tokens: limits.tokens ?? Number.POSITIVE_INFINITY,
    ms: limits.ms ?? 30 * 60_000,
    costUsd: limits.costUsd ?? Number.POSITIVE_INFINITY,
    identicalFailures: limits.identicalFailures ?? 3,
    denials: limits.denials ?? Number.POSITIVE_INFINITY,
    pauses: limits.pauses ?? 10,
  };
}

/** The limits that aren't positive numbers, by name. */
export function wrongLimits(limits: RunLimits): readonly LimitName[] {
  return LIMIT_NAMES.filter((name) => {
    const value = limits[name];
    return value !== undefined && !(typeof value === 'number' && value > 0);
  });
}

/** A limit that was reached, with a sentence for people. */
export interface Reached {
  readonly limit: LimitName;
  readonly message: string;
}

/** The first limit that forbids another request to the model, or null. */
export function reachedLimit(
  limits: EffectiveLimits,
  spent: { readonly turns: number; readonly usage: RunUsage; readonly ms: number },
): Reached | null {
  const tokens = spent.usage.inputTokens + spent.usage.outputTokens;
  if (spent.turns >= limits.turns) return reached('turns', limits.turns);
  if (spent.ms >= limits.ms) return reached('ms', limits.ms);
  if (tokens >= limits.tokens) return reached('tokens', limits.tokens);
  if ((spent.usage.costUsd ?? 0) >= limits.costUsd) return reached('costUsd', limits.costUsd);
  return null;
}

/** The words for a limit. */
export function reached(limit: LimitName, value: number): Reached {
  return { limit, message: `${WORDS[limit](value)} Raise its limit "${limit}" to let it go on.` };
}

const WORDS: Readonly<Record<LimitName, (value: number) => string>> = {
  turns: (value) => `The run reached its limit of ${count(value, 'model reply', 'model replies')}.`,
  toolCalls: (value) => `The run reached its limit of ${count(value, 'tool call', 'tool calls')}.`,
  tokens: (value) => `The run reached its limit of ${value} tokens.`,
  ms: (value) => `The run reached its time limit of ${value} ms.`,
  costUsd: (value) => `The run reached its limit of $${value}.`,
  identicalFailures: (value) => `The same call failed ${count(value, 'time', 'times')} with the same arguments.`,
  denials: (value) => `${count(value, 'call was', 'calls were')} not allowed.`,
  pauses: (value) => `The model paused ${count(value, 'time', 'times')} in a row without finishing.`,
};

function count(value: number, one: string, many: string): string {
  return `${value} ${value === 1 ? one : many}`;
}
