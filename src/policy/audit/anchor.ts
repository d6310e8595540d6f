import { timingSafeEqual } from 'node:crypto';
import type { Json } from '../../contracts/index.ts';
import type { AuditHead } from './audit-record.ts';
import { keyedDigest } from './keyed-digest.ts';

/**
 * Stands for the records of a writer that were removed on purpose, up to number `seq`: what follows them links to
 * `hash`. Signed with the key of the installation, so that whoever removes records can't make one up.
 */
export interface AuditAnchor extends AuditHead {
  readonly v: 1;
  /** How many records it stands for, earlier anchors included. */
  readonly records: number;
  /** When they were removed, Unix milliseconds. */
  readonly prunedAt: number;
  /** The process that began the chain, whose first record is among those that were removed. */
  readonly opened?: { readonly host: string; readonly pid: number };
  readonly mac: string;
}

export function signedAnchor(anchor: Omit<AuditAnchor, 'mac'>, key: Uint8Array): AuditAnchor {
  return { ...anchor, mac: macOf(anchor, key) };
}

export function isSigned({ mac, ...anchor }: AuditAnchor, key: Uint8Array): boolean {
  const expected = Buffer.from(macOf(anchor, key));
  const given = Buffer.from(String(mac));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function macOf(anchor: Omit<AuditAnchor, 'mac'>, key: Uint8Array): string {
  return keyedDigest(key, 'audit anchor', anchor as unknown as Json);
}
