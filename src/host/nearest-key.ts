import { editDistance } from '../tools/index.ts';

const MOST_SLIPS = 2;

/** The known key that a person most likely meant: the same letters in another case, or at most two slips away. */
export function nearestKey(written: string, known: readonly string[]): string | undefined {
  const lower = written.toLowerCase().replace(/[_-]/g, '');
  const ranked = known
    .filter((key) => Math.abs(key.length - lower.length) <= MOST_SLIPS)
    .map((key) => ({ key, distance: editDistance(lower, key.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.min(MOST_SLIPS, Math.floor(best.key.length / 3)) ? best.key : undefined;
}
