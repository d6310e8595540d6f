import { oneAtATime, type Prompter } from './prompter.ts';

/**
 * A person who reads their lines from a script, shown as if they were typed; for a demonstration, where nobody sits at
 * the terminal.
 *
 * @param next the next line; undefined where the script has none, which counts as the end of the input
 */
export function scriptedPrompter(next: () => string | undefined, output: { write(text: string): unknown }): Prompter {
  return {
    write: (text) => output.write(text),
    async ask(prompt, signal) {
      const line = signal.aborted ? undefined : next();
      output.write(`${prompt}${line ?? ''}\n`);
      return line;
    },
    alone: oneAtATime(),
  };
}
