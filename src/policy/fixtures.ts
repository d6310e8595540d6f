import type { Effect, Identity, ServerRef, ToolDefinition } from '../contracts/index.ts';
import { rawFrom, sha256, wireName } from '../tools/index.ts';
import type { Permissions, PolicyLayer } from './layer.ts';

/** Makes for the tests of this folder. */
export const who: Identity = { agent: 'test', via: 'library' };

function server(key: string): ServerRef {
  return { key, scope: 'project', fingerprint: sha256(key), trustAnnotations: false };
}

export function tool(serverKey: string | null, name: string, effect: Effect = 'write'): ToolDefinition {
  const ref = {
    server: serverKey === null ? null : server(serverKey),
    tool: name,
    name: wireName(serverKey, name),
    fingerprint: sha256(name),
  };
  return { ref, description: '', inputSchema: { type: 'object' }, raw: rawFrom({}), effect };
}

export function layer(permissions: Permissions, more: Partial<PolicyLayer> = {}): PolicyLayer {
  return { scope: 'user', file: 'bridle.json', permissions, trusted: true, ...more };
}
