/**
 * Tells somebody who can't change anything any more: what they throw, at once or later, costs nobody else anything.
 */
export function quietly(tell: () => unknown): void {
  try {
    Promise.resolve(tell()).catch(() => {});
  } catch {
    // The listener's own trouble.
  }
}
