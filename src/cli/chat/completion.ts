/** What can be completed at the moment. */
export interface CompletionContext {
  /** Without the slash. */
  readonly commands: readonly string[];
  readonly tools: () => readonly string[];
  readonly servers: () => readonly string[];
  readonly sessions: () => readonly string[];
  readonly models: readonly string[];
  /** Mentions and prompts; see `completeContent`. */
  readonly content?: (line: string) => Promise<[string[], string] | undefined>;
}

export const MCP_VERBS = ['reconnect', 'disable', 'enable'] as const;

/**
 * Completion of the line up to the cursor, as `node:readline` wants it: the candidates and the part that they replace.
 */
export function complete(line: string, context: CompletionContext): [string[], string] {
  const command = /^\/(\S*)$/.exec(line)?.[1];
  if (command !== undefined) {
    return [starting(context.commands, command).map((name) => `/${name} `), line];
  }
  const [, name = '', rest = ''] = /^\/(\S+)[ \t]+(.*)$/.exec(line) ?? [];
  const words = rest.split(/[ \t]+/);
  const last = words.at(-1) ?? '';
  const candidates = argument(name, words, context);
  return [starting(candidates, last).map((each) => `${each} `), last];
}

function argument(name: string, words: readonly string[], context: CompletionContext): readonly string[] {
  const [first = ''] = words;
  if (name === 'mcp' && words.length === 2) {
    return MCP_VERBS.some((verb) => verb === first) ? context.servers() : [];
  }
  if (words.length !== 1) return [];
  switch (name) {
    case 'explain':
      return context.tools();
    case 'mcp':
      return MCP_VERBS;
    case 'resume':
      return context.sessions();
    case 'model':
      return context.models;
    case 'help':
      return context.commands;
    default:
      return [];
  }
}

function starting(all: readonly string[], start: string): readonly string[] {
  return all.filter((each) => each.startsWith(start));
}
