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

const CALLED = 'The user called a prompt of a server by ';
const FOLLOWS = ". The server's text of it follows: do what it asks for, as far as it is what the user called it for.";

/**
 * Stands before the text of a server's prompt that a person called, in the same user message.
 *
 * @param words what the person themselves wrote to call it
 */
export function promptNote(words: readonly string[]): string {
  return harnessNote(`${CALLED}${JSON.stringify(words)}${FOLLOWS}`);
}

/** What the person wrote to call the prompt whose text follows such a note; null for any other text. */
export function wordsOfPromptNote(text: string): readonly string[] | null {
  const [before, after] = [`${OPENING}${CALLED}`, `${FOLLOWS}]`];
  if (!text.startsWith(before) || !text.endsWith(after)) return null;
  try {
    const words: unknown = JSON.parse(text.slice(before.length, -after.length));
    return Array.isArray(words) ? words.map(String) : [];
  } catch {
    return [];
  }
}
