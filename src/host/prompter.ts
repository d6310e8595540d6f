import { type LineStream, lineInput } from './line-input.ts';

/** A person at a terminal: what is shown to them, and what they answer. */
export interface Prompter {
  write(text: string): unknown;
  /**
   * Shows a prompt and waits for a line.
   *
   * @returns the line; undefined at the end of the input and when the signal aborts
   */
  ask(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  /** Waits until nobody else talks with the person, then does this. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** Work that waits for the work before it, whether that went well or not. */
export function oneAtATime(): Prompter['alone'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/**
 * The person at a terminal that stays in its line mode.
 *
 * @param options `output`: where prompts go; stderr, as stdout belongs to the answer
 */
export function linePrompter({
  input,
  output,
}: {
  readonly input: LineStream;
  readonly output: { write(text: string): unknown };
}): Prompter {
  const lines = lineInput(input);
  return {
    write: (text) => output.write(text),
    async ask(prompt, signal) {
      output.write(prompt);
      const line = await lines.next(signal);
      if (line === undefined) output.write('\n');
      return line;
    },
    alone: oneAtATime(),
  };
}
