import { PassThrough } from 'node:stream';
import type { LineStream } from '../../host/index.ts';

/** What readline needs of a terminal's input. */
type TerminalInput = LineStream & {
  setRawMode?(raw: boolean): unknown;
};

/** The one reader of the terminal's input while a chat goes on. */
export interface Keyboard {
  /** Keys go to this stream, until another is opened or it is closed. */
  open(): NodeJS.ReadableStream;
  /** From here on keys are dropped, Ctrl-C excepted. */
  shut(): void;
  close(): void;
}

const CTRL_C = 0x03;

/**
 * Takes the terminal's input. What is typed while no prompt stands is dropped, so that it answers no question that it
 * was not meant for; Ctrl-C is heard at any time.
 */
export function openKeyboard(input: TerminalInput, onInterrupt: () => void): Keyboard {
  let gate: PassThrough | null = null;
  let ended = false;
  const raw = (on: boolean) => void input.setRawMode?.(on);
  const onData = (chunk: Buffer) => {
    if (gate) gate.write(chunk);
    else if (chunk.includes(CTRL_C)) onInterrupt();
  };
  const onEnd = () => {
    ended = true;
    gate?.end();
  };
  raw(true);
  input.on('data', onData);
  input.on('end', onEnd);
  input.on('error', onEnd);
  input.resume();
  return {
    open() {
      const opened = Object.assign(new PassThrough(), {
        isTTY: true,
        setRawMode(on: boolean) {
          raw(on);
          return opened;
        },
      });
      gate = opened;
      if (ended) opened.end();
      return opened;
    },
    shut() {
      gate = null;
      raw(true);
    },
    close() {
      gate = null;
      input.off('data', onData);
      input.off('end', onEnd);
      raw(false);
      input.pause();
    },
  };
}
