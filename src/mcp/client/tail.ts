import { StringDecoder } from 'node:string_decoder';
import { printable } from '../../tools/index.ts';

const MAX_LINE = 500;
/** More than is shown is read of a line, so that no secret is cut in two before it is taken out. */
const MAX_READ = 8192;

export interface Tail {
  push(chunk: Buffer): void;
  /** The last lines, oldest first, safe to show to a person. */
  lines(): readonly string[];
}

/**
 * Keeps the end of a stream for messages. However much is pushed, it holds at most `maxLines` lines of 500 characters
 * and the beginning of an unfinished one.
 *
 * @param clean takes secrets out of a line
 */
export function tail(maxLines: number, clean: (line: string) => string = (line) => line): Tail {
  const decoder = new StringDecoder('utf8');
  const kept: string[] = [];
  let open = '';

  const shown = (line: string) => printable(clean(line), { maxLength: MAX_LINE }).trim();
  const keep = (line: string) => {
    const text = shown(line);
    if (text === '') return;
    kept.push(text);
    if (kept.length > maxLines) kept.shift();
  };

  return {
    push(chunk) {
      const pieces = decoder.write(chunk).split('\n');
      const first = pieces.shift() ?? '';
      // The end of a line that is already too long is dropped, not collected.
      if (open.length < MAX_READ) open += first.slice(0, MAX_READ);
      if (pieces.length === 0) return;
      keep(open);
      open = (pieces.pop() ?? '').slice(0, MAX_READ);
      for (const piece of pieces.slice(-maxLines)) keep(piece.slice(0, MAX_READ));
    },
    lines() {
      const last = shown(open);
      return last === '' ? [...kept] : [...kept, last].slice(-maxLines);
    },
  };
}
