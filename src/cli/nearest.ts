import { editDistance } from '../tools/index.ts';

/** The closest of `names` by edit distance, where it is close enough to be a slip of the finger. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(2, Math.floor(name.length / 3)) && best.distance < name.length
    ? best.candidate
    : undefined;
}
