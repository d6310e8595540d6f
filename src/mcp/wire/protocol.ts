/** The revision of the modern era (per-request metadata) that we speak. */
export const MODERN_REVISION = '2026-07-28';
/** The newest revision of the legacy era (handshake): what `initialize` offers. */
export const LEGACY_REVISION = '2025-11-25';
/** All revisions of the legacy era: what `initialize` may be answered with. */
export const LEGACY_REVISIONS: ReadonlySet<string> = new Set([
  LEGACY_REVISION,
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
]);

/** Keys of a modern request's `_meta`. */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const;

export const CODES = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Of the legacy era; a modern server answers with `invalidParams`. */
  noResource: -32002,
  headerMismatch: -32020,
  /** A person, or the host for them, said no to a request of the server. */
  refused: -1,
  /** Of the legacy era alone. */
  urlElicitationRequired: -32042,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** The levels of a server's log messages, from the least to the most severe (RFC 5424). */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
