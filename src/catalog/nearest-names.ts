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

/** Levenshtein distance: fewest insertions, deletions and replacements of one character. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replace, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
