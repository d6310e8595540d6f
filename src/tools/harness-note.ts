const OPENING = '[Note from the harness, not from the user: ';

/**
 * A word of the harness to the model, in the place of a user message: no result and no system prompt can say what
 * changed since.
 *
 * @param text whole sentences of our own; nothing in it comes from a server but names
 */
export function harnessNote(text: string): string {
  return `${OPENING}${text}]`;
}

/** Whether a text of a user message is such a note. */
export function isHarnessNote(text: string): boolean {
  return text.startsWith(OPENING) && text.endsWith(']');
}
