/**
 * Matches a pattern in which `*` stands for any run of characters, the empty one included, and every other character
 * for itself. Goes through the text once, so no pattern can make it slow.
 */
export function globMatches(pattern: string, text: string): boolean {
  const parts = pattern.split('*');
  const head = parts[0] ?? '';
  if (parts.length === 1) return text === pattern;
  const last = parts[parts.length - 1] ?? '';
  if (text.length < head.length + last.length || !text.startsWith(head) || !text.endsWith(last)) return false;
  let from = head.length;
  const end = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > end) return false;
    from = at + part.length;
  }
  return from <= end;
}
