import { createHmac } from 'node:crypto';
import type { Json } from '../../contracts/index.ts';
import { canonicalJson } from '../../tools/index.ts';

/**
 * HMAC-SHA-256 (RFC 2104) over the canonical JSON of a value, with a key of its own for each purpose, so that a digest
 * made for one can't be taken for another. Who lacks the key can't guess short values by trying them.
 *
 * @param purpose a fixed word of ours
 * @returns `hmac-sha256:` and 64 hex digits
 */
export function keyedDigest(key: Uint8Array, purpose: string, value: Json): string {
  const own = createHmac('sha256', key).update(`bridle ${purpose}`).digest();
  return `hmac-sha256:${createHmac('sha256', own).update(canonicalJson(value)).digest('hex')}`;
}
