/** Shared by the benchmarks: best and median of samples, and a table that is the same in each of them. */

/** @param {number[]} samples */
export function median(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @param {number[]} samples */
export const best = (samples) => Math.min(...samples);

/** Prints rows of cells as a Markdown table, ready to be pasted into `docs/benchmarks.md`. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map((row) => line(row.map(String)))].join('\n');
}

export function machine() {
  return `Node ${process.versions.node}, ${process.platform} ${process.arch}`;
}
