import { hash } from 'node:crypto';
import type { Json } from '../contracts/index.ts';

/**
 * Canonical JSON text (RFC 8785): members sorted by UTF-16 code units, no white space, ECMAScript number form.
 * ECMAScript's own string and number serialisation is what the RFC prescribes, so only the order is ours.
 */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`);
  return `{${members.join(',')}}`;
}

/** SHA-256 of the UTF-8 text, in lower-case hex. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
