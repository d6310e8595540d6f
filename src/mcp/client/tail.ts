import { StringDecoder } from 'node:string_decoder';
import { printable } from '../../tools/index.ts';

const MAX_LINE = 500;

export interface Tail {
  push(chunk: Buffer): void;
  /** The last lines, oldest first, safe to show to a person. */
  lines(): readonly string[];
}

/**
 * Keeps the end of a stream for messages. However much is pushed, it holds at most `maxLines` lines of 500 characters.
 */
export function tail(maxLines: number): Tail {
  const decoder = new StringDecoder('utf8');
  const kept: string[] = [];
  let open = '';

  const keep = (line: string) => {
    const clean = printable(line, { maxLength: MAX_LINE }).trim();
    if (clean === '') return;
    kept.push(clean);
    if (kept.length > maxLines) kept.shift();
  };

  return {
    push(chunk) {
      const pieces = decoder.write(chunk).split('\n');
      const first = pieces.shift() ?? '';
      // The end of a line that is already too long is dropped, not collected.
      if (open.length < MAX_LINE) open += first.slice(0, MAX_LINE);
      if (pieces.length === 0) return;
      keep(open);
      open = (pieces.pop() ?? '').slice(0, MAX_LINE);
      for (const piece of pieces.slice(-maxLines)) keep(piece.slice(0, MAX_LINE));
    },
    lines() {
      const last = printable(open, { maxLength: MAX_LINE }).trim();
      return last === '' ? [...kept] : [...kept, last].slice(-maxLines);
    },
  };
}
