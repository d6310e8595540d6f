import type { Json } from '../contracts/index.ts';
import { canonicalJson, sha256 } from './canonical.ts';

/**
 * An id that follows from what it is for, so that a call that comes twice makes one thing and not two.
 *
 * @param namespace keeps the ids of different kinds of things apart, such as `'invoice'`
 * @param of what makes the thing this one and no other; equal JSON (RFC 8785) gives equal ids, key order aside
 * @returns a UUID of version 8 (RFC 9562) from the SHA-256 of both
 */
export function deriveId(namespace: string, of: Json): string {
  const hex = sha256(canonicalJson([namespace, of]));
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}
