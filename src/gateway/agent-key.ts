import { hash, randomBytes } from 'node:crypto';
import type { Identity } from '../contracts/index.ts';
import type { GatewayAgent } from './gateway-config.ts';

/** A key as its agent sends it, and as the gateway's file keeps it. */
export interface AgentKey {
  /** Shown once: `bridle_` and 32 random bytes. */
  readonly key: string;
  /** `sha256:` and the digest of the key, 64 hex digits. A key of 256 random bits needs no slower digest. */
  readonly digest: string;
}

export function newAgentKey(): AgentKey {
  const key = `bridle_${randomBytes(32).toString('base64url')}`;
  return { key, digest: keyDigest(key) };
}

export function keyDigest(key: string): string {
  return `sha256:${hash('sha256', key, 'hex')}`;
}

/**
 * Knows an agent by `Authorization: Bearer KEY` of its request, or by `X-API-Key: KEY`.
 *
 * It is looked up by the digest of what was sent: how long that takes tells nothing of the digests that are known.
 *
 * @returns null for every key that nobody has
 */
export function identifyBy(
  agents: Iterable<GatewayAgent>,
): (headers: ReadonlyMap<string, string>) => Promise<Identity | null> {
  const byDigest = new Map<string, Identity>();
  for (const { name, keys } of agents) for (const key of keys) byDigest.set(key, identityOf(name));
  return async (headers) => {
    const key = keyIn(headers);
    return key === undefined ? null : (byDigest.get(keyDigest(key)) ?? null);
  };
}

export function identityOf(agent: string): Identity {
  return Object.freeze({ agent, via: 'gateway' });
}

/** The name of a scheme is the same in any case (RFC 9110, 11.1). */
function keyIn(headers: ReadonlyMap<string, string>): string | undefined {
  const [, bearer] = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '') ?? [];
  return bearer ?? headers.get('x-api-key');
}
