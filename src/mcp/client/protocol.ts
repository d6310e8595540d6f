import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../contracts/index.ts';

/** The revision of the modern era (per-request metadata) that we speak. */
export const MODERN_REVISION = '2026-07-28';
/** What `initialize` offers to a server of the legacy era (handshake). */
export const LEGACY_REVISION = '2025-11-25';
/** What `initialize` may be answered with. */
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

let own: JsonObject | undefined;

/** How we introduce ourselves; for display on the other side. */
export function clientInfo(): JsonObject {
  own ??= {
    name: 'bridle',
    version: (
      JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }
    ).version,
  };
  return own;
}
