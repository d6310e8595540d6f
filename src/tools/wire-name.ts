import type { WireName } from '../contracts/index.ts';
import { sha256 } from './canonical.ts';

/** The cap that hosts of the Messages API share; the API itself takes 128. */
export const WIRE_NAME_LIMIT = 64;
const HASH_LENGTH = 8;
const CLEAN_TOOL = /^[a-zA-Z0-9_-]+$/;
/** No leading, trailing or double underscore, so that `__` after the key always ends it. */
const CLEAN_SERVER = /^[a-zA-Z0-9-]+(?:_[a-zA-Z0-9-]+)*$/;

function clean(text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]+/g, '_');
}

function tail(text: string): string {
  return sha256(text).slice(0, HASH_LENGTH);
}

/** The server's part of a wire name: the key itself where it is clean, else a cleaned key with a hash tail. */
export function wireServerPart(serverKey: string): string {
  if (CLEAN_SERVER.test(serverKey)) return serverKey;
  const cleaned = clean(serverKey).replace(/_+/g, '_').replace(/^_|_$/g, '').slice(0, 24);
  return cleaned === '' ? tail(serverKey) : `${cleaned}-${tail(serverKey)}`;
}

/**
 * The name under which a model sees a tool: `mcp__<server>__<tool>`, or the tool's own name for tools of this process.
 * Pure, at most 64 characters, of `[a-zA-Z0-9_-]`; whatever had to be cleaned or cut ends in a hash of both parts.
 * Names are resolved by map, never by splitting.
 */
export const wireName: WireName = (serverKey, tool) => {
  const prefix = serverKey === null ? '' : `mcp__${wireServerPart(serverKey)}__`;
  const whole = prefix + tool;
  // An own tool that is called like a server's would pass for it.
  const poses = serverKey === null && tool.startsWith('mcp__');
  if (CLEAN_TOOL.test(tool) && whole.length <= WIRE_NAME_LIMIT && !poses) return whole;
  const hash = tail(JSON.stringify([serverKey, tool]));
  return `${(prefix + clean(tool)).slice(0, WIRE_NAME_LIMIT - HASH_LENGTH - 1)}-${hash}`;
};
