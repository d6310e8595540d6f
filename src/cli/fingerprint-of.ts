import type { Project } from '../host/index.ts';
import { serverFingerprint } from '../mcp/client/index.ts';

/** Of a server as it is configured, without starting it; undefined for an address that is none. */
export function fingerprintOf(server: Project['servers'][number]): string | undefined {
  if (server.kind !== 'http') return serverFingerprint(server.command, server.args ?? []);
  return URL.canParse(server.url) ? serverFingerprint(new URL(server.url)) : undefined;
}
