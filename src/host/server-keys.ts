/** The keys of an `.mcp.json` entry that are read. */
export const SERVER_KEYS = [
  'type',
  'command',
  'args',
  'env',
  'cwd',
  'url',
  'headers',
  'headersHelper',
  'era',
  'trust',
  'startMs',
  'idleMs',
  'hardMs',
  'maxResultChars',
  'disabled',
] as const;

/** Limits of an entry, each a whole number above 0, with its unit. */
export const LIMITS = {
  startMs: 'milliseconds',
  idleMs: 'milliseconds',
  hardMs: 'milliseconds',
  maxResultChars: 'characters',
} as const;
export type LimitKey = keyof typeof LIMITS;

export const ERAS = ['auto', 'legacy', 'modern'] as const;

/** What to write instead of keys that other hosts read. */
export const FOREIGN_SERVER_KEYS: ReadonlyMap<string, string> = new Map([
  ['alwaysAllow', 'Allow tools by rule: permissions.allow in bridle.json, e.g. "mcp__<server>__<tool>".'],
  ['autoApprove', 'Allow tools by rule: permissions.allow in bridle.json, e.g. "mcp__<server>__<tool>".'],
  ['disabledTools', 'Hide tools by rule: permissions.deny in bridle.json, e.g. "mcp__<server>__<tool>".'],
  ['timeout', 'Write "hardMs" for the longest call or "idleMs" for the longest silence, in milliseconds.'],
  ['enabled', 'Write "disabled": true to keep a server from starting.'],
  ['envFile', 'Set the variables in your environment or in "env".'],
  ['httpUrl', 'Write "url" with "type": "http".'],
  ['serverUrl', 'Write "url" with "type": "http".'],
  ['transport', 'Write "type".'],
  ['transportType', 'Write "type".'],
]);

/** What to write instead of top-level keys that other hosts read. */
export const FOREIGN_TOP_KEYS: ReadonlyMap<string, string> = new Map([
  ['servers', 'This is how VS Code spells it: rename it to "mcpServers" to have these servers here.'],
  ['context_servers', 'This is how Zed spells it: rename it to "mcpServers" to have these servers here.'],
  ['mcp', 'Put the servers themselves under "mcpServers".'],
  ['inputs', `Inputs are not asked for; put values into environment variables and write \${VAR}.`],
  ['permissions', 'Rules stand in bridle.json, beside this file.'],
]);

/** Those of them under which no server stands. */
export const TOP_KEYS_WITHOUT_SERVERS: ReadonlySet<string> = new Set(['inputs', 'permissions']);
