/** Keys of an agent file's front matter that mean something here. */
export const AGENT_KEYS = [
  'name',
  'description',
  'tools',
  'disallowedTools',
  'inherit',
  'model',
  'agents',
  'maxTurns',
  'permissionMode',
] as const;

/** Keys that other hosts read, and what is true of them here. */
export const FOREIGN_AGENT_KEYS: ReadonlyMap<string, string> = new Map([
  ['hooks', 'Commands of hooks are never run.'],
  ['mcpServers', "Servers stand in .mcp.json, or are added by 'bridle mcp add'."],
  ['skills', 'There are no skills yet.'],
  ['memory', 'Nothing is remembered from one run to the next.'],
  ['background', 'An agent is run by whoever asks for it.'],
  ['isolation', 'There is no sandbox.'],
  ['effort', 'It is left to the model.'],
  ['initialPrompt', 'The task is given on the command line.'],
]);

/** Keys that are only for show. */
export const SILENT_AGENT_KEYS: ReadonlySet<string> = new Set(['color', 'version', 'author', 'license']);
