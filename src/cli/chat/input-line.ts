/** What a person entered. */
export type ChatInput =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'command'; readonly name: string; readonly rest: string; readonly words: readonly string[] }
  /** `isPlain`: a slash at its beginning is meant as one. */
  | { readonly kind: 'message'; readonly text: string; readonly isPlain: boolean };

/**
 * Reads what was entered: `/name …` is a command or a prompt, everything else is said to the agent. A message that has to begin with
 * a slash is entered with two. A path is no command: `/etc/hosts is odd` is a message.
 */
export function readInput(entered: string): ChatInput {
  const text = entered.trim();
  if (text === '') return { kind: 'nothing' };
  const [, name, rest = ''] = /^\/([\p{L}\d_?][^\s/]*)(?:[ \t]+([^\n]*))?$/u.exec(text) ?? [];
  if (name !== undefined) {
    const trimmed = rest.trim();
    return { kind: 'command', name, rest: trimmed, words: trimmed === '' ? [] : trimmed.split(/\s+/) };
  }
  const isPlain = text.startsWith('//');
  return { kind: 'message', text: isPlain ? text.slice(1) : text, isPlain };
}

/** A line that goes on in the next: it ends with a backslash that isn't itself escaped. */
export function continues(line: string): boolean {
  const slashes = /\\*$/.exec(line)?.[0].length ?? 0;
  return slashes % 2 === 1;
}

/** The lines of one entry, without the backslashes that only continued them. */
export function joinLines(lines: readonly string[]): string {
  return lines.map((line, at) => (at < lines.length - 1 && continues(line) ? line.slice(0, -1) : line)).join('\n');
}
