/** Longest matcher, in characters. */
const LONGEST = 1_000;
const PLAIN = /^[A-Za-z0-9_\-|,\s]*$/;

/** Says whether a hook is for a subject, such as a tool's name. */
export type HookMatcher = (subjects: readonly string[]) => boolean;

export interface ReadMatcher {
  readonly matches: HookMatcher;
  /** Why it can't be read; it then matches everything, since a hook that stands guard may not be lost. */
  readonly problem?: string;
}

const ALL: HookMatcher = () => true;

/**
 * Reads a matcher: names with `|` or `,` between them, and spaces around them, match exactly; anything else is a regular expression that is looked for
 * in the name, run by an engine that is linear in its length.
 */
export async function readMatcher(matcher: string | undefined): Promise<ReadMatcher> {
  const text = matcher?.trim() ?? '';
  if (text === '' || text === '*') return { matches: ALL };
  if (text.length > LONGEST) return { matches: ALL, problem: `it is longer than ${LONGEST} characters` };
  if (PLAIN.test(text)) {
    const names = new Set(text.split(/[|,]/).map((name) => name.trim()));
    return { matches: (subjects) => subjects.some((subject) => names.has(subject)) };
  }
  const { RE2JS } = await import('re2js');
  try {
    const pattern = RE2JS.compile(text);
    return { matches: (subjects) => subjects.some((subject) => pattern.matcher(subject).find()) };
  } catch (error) {
    return { matches: ALL, problem: error instanceof Error ? error.message : String(error) };
  }
}
