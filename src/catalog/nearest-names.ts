import { editDistance } from '../tools/index.ts';

/** Longest name compared: the work grows with the product of both lengths, and wire names are shorter. */
const LONGEST = 128;

/**
 * The names most like the given one, best first: those that contain it or are a few edits away. At most three.
 */
export function nearestNames(name: string, names: readonly string[]): readonly string[] {
  const wanted = name.toLowerCase().slice(0, LONGEST);
  if (wanted === '') return [];
  const most = Math.max(2, Math.floor(wanted.length / 3));
  return names
    .map((candidate) => ({ candidate, far: farness(wanted, candidate.toLowerCase().slice(0, LONGEST)) }))
    .filter(({ far }) => far <= most)
    .sort((a, b) => a.far - b.far || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** The last part of a wire name counts as a name of its own: people leave out the server. */
function farness(wanted: string, candidate: string): number {
  const short = candidate.slice(candidate.lastIndexOf('__') < 0 ? 0 : candidate.lastIndexOf('__') + 2);
  if (wanted.length >= 3 && candidate.includes(wanted)) return 1;
  return Math.min(editDistance(wanted, candidate), editDistance(wanted, short));
}
