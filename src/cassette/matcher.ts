import type { Json } from '../contracts/index.ts';
import { canonicalJson, sha256 } from '../tools/index.ts';
import { differences, differenceText } from './difference.ts';
import type { CassetteEntry } from './entries.ts';
import type { Normalise } from './normalise.ts';

export type Taken<T> = { readonly entry: T } | { readonly problem: string; readonly nth: number };

export interface Matcher<T> {
  take(sent: Json): Taken<T>;
  /** Whether it was recorded, taken or not. */
  has(sent: Json): boolean;
  /** How many nobody took. */
  left(): number;
}

/**
 * Finds recorded exchanges by what was sent: those that run side by side come in any order. Each is taken once.
 *
 * @param again whether one may be taken again once all like it are gone
 */
export function matcher<T extends CassetteEntry>(
  entries: readonly T[],
  sentOf: (entry: T) => Json,
  then: Normalise,
  now: Normalise,
  again: (entry: T) => boolean = () => false,
): Matcher<T> {
  const recorded = entries.map((entry) => ({ entry, sent: then(sentOf(entry)), isTaken: false }));
  const byDigest = new Map<string, typeof recorded>();
  for (const each of recorded) {
    const digest = sha256(canonicalJson(each.sent));
    byDigest.set(digest, [...(byDigest.get(digest) ?? []), each]);
  }
  let taken = 0;
  return {
    has: (sent) => byDigest.has(sha256(canonicalJson(now(JSON.parse(JSON.stringify(sent)) as Json)))),
    left: () => recorded.filter(({ isTaken, entry }) => !isTaken && !again(entry)).length,
    take(sent) {
      const given = now(JSON.parse(JSON.stringify(sent)) as Json);
      const alike = byDigest.get(sha256(canonicalJson(given))) ?? [];
      const found = alike.find(({ isTaken }) => !isTaken) ?? alike.filter(({ entry }) => again(entry)).at(-1);
      taken += 1;
      if (found) {
        found.isTaken = true;
        return { entry: found.entry };
      }
      // What comes nearest is shown, of what hasn't been asked for; of equals the first.
      const rest = recorded.filter(({ isTaken }) => !isTaken).map((each) => differences(each.sent, given));
      if (rest.length === 0) return { problem: '  nothing more was recorded', nth: taken };
      const nearest = rest.reduce((best, each) => (each.length < best.length ? each : best));
      return { problem: differenceText(nearest), nth: taken };
    },
  };
}
