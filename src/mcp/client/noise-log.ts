import { printable } from '../../tools/index.ts';

const KEPT = 5;
const MAX_LINE = 200;
/** More than is shown is read of a line, so that no secret is cut in two before it is taken out. */
const MAX_READ = 8192;

export interface NoiseLog {
  add(line: string): void;
  /** A new process begins: its first lines are of interest, the old ones no longer. */
  restart(): void;
  /** How many lines there were in all, and since the last restart. */
  count(): { readonly all: number; readonly sinceStart: number };
  /** The first lines since the last restart, safe to show. */
  first(): readonly string[];
}

/** Counts what a server writes to stdout besides MCP messages, and keeps the first lines as the reason. */
export function noiseLog(clean: (text: string) => string): NoiseLog {
  let all = 0;
  let sinceStart = 0;
  let first: string[] = [];
  return {
    add(line) {
      all += 1;
      sinceStart += 1;
      if (first.length < KEPT) first.push(printable(clean(line.slice(0, MAX_READ)), { maxLength: MAX_LINE }));
    },
    restart() {
      sinceStart = 0;
      first = [];
    },
    count: () => ({ all, sinceStart }),
    first: () => first,
  };
}
