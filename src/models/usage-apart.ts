import type { Json, JsonObject } from '../contracts/index.ts';
import { arrayOf, isObject, stringOf } from './json-shape.ts';

/** What a request used beside the reply itself. */
export interface ApartUsage {
  /** Whose prices count for it; absent: those of the model that answered. */
  readonly model?: string;
  readonly usage: JsonObject;
}

/** Kinds of `usage.iterations` whose tokens the fields beside it don't hold (Messages API, `BetaUsage`). */
const APART: ReadonlySet<Json | undefined> = new Set(['compaction', 'advisor_message']);

/** Summing up what was said, and an advisor's answers: tokens that are paid for, and stand in `iterations` alone. */
export function usageApart(usage: Json): readonly ApartUsage[] {
  if (!isObject(usage)) return [];
  return arrayOf(usage.iterations).flatMap((iteration) => {
    if (!isObject(iteration) || !APART.has(iteration.type)) return [];
    const model = stringOf(iteration.model);
    return [{ usage: iteration, ...(model !== '' && { model }) }];
  });
}
