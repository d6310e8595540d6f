import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { JsonObject } from '../../contracts/index.ts';
import { isObject } from './is-object.ts';

/** How long an id is good for, in milliseconds. */
const LIFETIME_MS = 7 * 24 * 60 * 60_000;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Longest id that is looked at: nothing of ours is longer. */
const MAX_LENGTH = 4096;
/** What a client may declare of itself and have remembered, in characters. */
const MAX_CAPABILITIES = 1024;
const KNOWN_CAPABILITIES = ['elicitation', 'sampling', 'roots'] as const;

/** What a session's id holds: enough to go on with it in another process. */
export interface SessionFacts {
  /** Names the session; never the same for two. */
  readonly conversation: string;
  /** Digest of who opened it. */
  readonly caller: string;
  readonly revision: string;
  readonly capabilities: JsonObject;
}

/**
 * Session ids that hold their session, sealed (AES-256-GCM), so that whoever has the key can go on with it: nobody makes
 * or reads one, and nothing has to be kept for it.
 */
export interface SessionIds {
  seal(facts: SessionFacts): string;
  /** Null for what wasn't sealed with this key, or is too old. */
  open(id: string): SessionFacts | null;
}

/**
 * @param secret what the key is derived from (HKDF-SHA-256); default, also for an empty one: random, so ids end with the
 *   process
 */
export function sessionIds(secret: string | Uint8Array = '', now: () => number = Date.now): SessionIds {
  const key = Buffer.from(
    hkdfSync('sha256', secret.length === 0 ? randomBytes(32) : secret, '', 'bridle mcp session', 32),
  );
  return {
    seal({ conversation, caller, revision, capabilities }) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const facts = [conversation, caller, revision, bounded(capabilities), now() + LIFETIME_MS];
      const body = Buffer.concat([cipher.update(JSON.stringify(facts), 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
    },
    open(id) {
      if (id.length > MAX_LENGTH) return null;
      const bytes = Buffer.from(id, 'base64url');
      // One session has one id: another spelling of it would be held, and ended, as another session.
      if (bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== id) return null;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        const body =
          decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
        const facts = JSON.parse(body) as [string, string, string, JsonObject, number];
        const [conversation, caller, revision, capabilities, until] = facts;
        return until > now() ? { conversation, caller, revision, capabilities } : null;
      } catch {
        return null;
      }
    },
  };
}

/** An id travels with every request, so a client that declares a book is remembered by what matters to a server. */
function bounded(capabilities: JsonObject): JsonObject {
  if (JSON.stringify(capabilities).length <= MAX_CAPABILITIES) return capabilities;
  const known: JsonObject = {};
  for (const name of KNOWN_CAPABILITIES) {
    const value = capabilities[name];
    if (!isObject(value)) continue;
    const modes = Object.entries(value).filter(([, mode]) => isObject(mode) || typeof mode === 'boolean');
    known[name] = Object.fromEntries(
      modes.slice(0, 8).map(([mode, is]) => [mode.slice(0, 32), isObject(is) ? {} : is]),
    );
  }
  return known;
}
