import type { CommandIo } from '../command.ts';
import { wrapLines } from './wrap.ts';

/** Where the chat writes: answers to stdout, everything else to stderr, each whole line at the margin. */
export interface Screen {
  /** A piece of the answer. */
  answer(text: string): void;
  /** Whole lines of anything else, broken between words. */
  lines(text: string): void;
  /** Whole lines as they are, for what may be copied. */
  verbatim(text: string): void;
  /** Begins a new line unless the cursor stands at the margin. */
  freshLine(): void;
  /** Columns of the terminal; 80 where it doesn't say. */
  columns(): number;
  /** While a prompt stands, lines are written above it. */
  prompt: StandingPrompt | null;
}

/** A prompt with what has been typed into it so far. */
export interface StandingPrompt {
  /** Takes it off the screen; gives the rows that it took beyond the first. */
  hide(): number;
  show(): void;
}

/** @param width columns when the terminal doesn't say; a pipe has no end of line */
export function openScreen({ stdout, stderr }: Pick<CommandIo, 'stdout' | 'stderr'>, width = 80): Screen {
  // Where stdout goes elsewhere, an answer doesn't move the cursor.
  const seesAnswers = stdout.isTTY === true;
  let atMargin = true;
  const screen: Screen = {
    prompt: null,
    columns: () => Math.max(20, stderr.columns || width),
    answer(text) {
      if (text === '') return;
      stdout.write(text);
      if (seesAnswers) atMargin = text.endsWith('\n');
    },
    lines: (text) => screen.verbatim(wrapLines(text, screen.columns())),
    verbatim(text) {
      const { prompt } = screen;
      const rows = prompt?.hide() ?? 0;
      if (!prompt) screen.freshLine();
      // The prompt is drawn as many rows further up as it had when it was hidden.
      stderr.write(text.endsWith('\n') ? text : `${text}\n`);
      if (prompt) {
        stderr.write('\n'.repeat(rows));
        prompt.show();
      }
      atMargin = true;
    },
    freshLine() {
      if (atMargin) return;
      stderr.write('\n');
      atMargin = true;
    },
  };
  return screen;
}
