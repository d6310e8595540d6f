import type { Json } from '../../contracts/index.ts';
import { LOG_LEVELS } from '../wire/index.ts';

const RANK: ReadonlyMap<Json, number> = new Map(LOG_LEVELS.map((level, rank) => [level, rank]));

export function isLogLevel(value: Json | undefined): value is string {
  return value !== undefined && RANK.has(value);
}

/** @param least a level's name; a message whose level nobody knows is below it */
export function isAtLeast(level: Json | undefined, least: string): boolean {
  return (RANK.get(level ?? null) ?? -1) >= (RANK.get(least) ?? 0);
}
