import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

/** Lines from a person or a pipe, one reader for all questions. */
export interface LineInput {
  /** The next line; undefined at the end of the input and when the signal aborts. */
  next(signal: AbortSignal): Promise<string | undefined>;
  close(): void;
}

/** Usually `process.stdin`. */
export type LineStream = Readable & { readonly isTTY?: boolean };

/** What was typed in a terminal before a question was shown can't be meant for it. */
const TYPED_AHEAD_MS = 50;

const READERS = new WeakMap<Readable, LineInput>();

/** The one reader of a stream: two readers of the same input would take each other's lines. */
export function lineInput(stream: LineStream): LineInput {
  const known = READERS.get(stream);
  if (known) return known;
  const reader = newLineInput(stream);
  READERS.set(stream, reader);
  return reader;
}

/**
 * Reads lines from a stream only while one is waited for, so that an idle input keeps no process alive. The terminal
 * stays in its line mode: Ctrl-C goes to the process as SIGINT, as everywhere.
 */
function newLineInput(stream: LineStream): LineInput {
  const lines: string[] = [];
  let reader: Interface | undefined;
  let ended = false;
  let wake: (() => void) | undefined;

  const open = () => {
    if (reader) return reader;
    reader = createInterface({ input: stream, terminal: false, crlfDelay: Number.POSITIVE_INFINITY });
    reader.on('line', (line) => {
      lines.push(line);
      wake?.();
    });
    reader.on('close', () => {
      ended = true;
      wake?.();
    });
    return reader;
  };

  return {
    async next(signal) {
      const source = open();
      if (!ended) source.resume();
      if (stream.isTTY === true) {
        await wait(TYPED_AHEAD_MS);
        lines.length = 0;
      }
      const onAbort = () => wake?.();
      signal.addEventListener('abort', onAbort);
      try {
        while (lines.length === 0 && !ended && !signal.aborted) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        return signal.aborted ? undefined : lines.shift();
      } finally {
        wake = undefined;
        signal.removeEventListener('abort', onAbort);
        if (!ended) source.pause();
      }
    },
    close() {
      reader?.close();
    },
  };
}
