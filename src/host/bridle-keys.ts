/** The keys of `bridle.json`. The published JSON Schema documents the same ones; a test compares them. */
export const BRIDLE_KEYS = [
  '$schema',
  'permissions',
  'mode',
  'previews',
  'views',
  'hooks',
  'disableAllHooks',
  'sampling',
  'approvals',
  'audit',
  'serverLog',
  'pins',
] as const;
export const PERMISSION_KEYS = ['allow', 'ask', 'deny', 'from'] as const;
export const SAMPLING_KEYS = ['servers'] as const;
export const SAMPLING_SERVER_KEYS = ['maxTokens', 'requests', 'fingerprint'] as const;
export const APPROVALS_KEYS = ['park', 'waitSeconds'] as const;
export const PINS_KEYS = ['mode'] as const;
export const AUDIT_KEYS = ['enabled', 'redact', 'arguments'] as const;
export const PREVIEW_KEYS = ['tool', 'arguments'] as const;

export const FOREIGN_BRIDLE_KEYS: ReadonlyMap<string, string> = new Map([
  ['mcpServers', 'Servers stand in .mcp.json, beside this file.'],
  ['servers', 'Servers stand in .mcp.json, beside this file, under "mcpServers".'],
  ['defaultMode', 'Write "mode" in your own bridle.json, the one in your configuration folder.'],
  ['allow', 'Put it inside "permissions".'],
  ['ask', 'Put it inside "permissions".'],
  ['deny', 'Put it inside "permissions".'],
]);

export const FOREIGN_PERMISSION_KEYS: ReadonlyMap<string, string> = new Map([
  ['defaultMode', 'Write "mode" at the top of your own bridle.json, the one in your configuration folder.'],
  ['disallow', 'Write "deny".'],
  ['block', 'Write "deny".'],
]);
