import type { IncomingHttpHeaders } from 'node:http';

/** Longer than that nobody waits for within a request. */
const MAX_WAIT_MS = 30_000;

/** Requests that change nothing, and may be sent again whatever became of them. */
const SAFE: ReadonlySet<string> = new Set([
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
]);

/**
 * How long to wait before a refused request is sent once more (RFC 9110, 10.2.3): 429 says that it did not run; 503 may
 * come from something that stands before a server that did run it, so that only requests that change nothing are sent
 * again.
 *
 * @returns milliseconds; null when it isn't to be sent again, or the server wants more time than anybody waits
 */
export function retryAfterMs(
  method: string,
  status: number,
  headers: IncomingHttpHeaders,
  now: number = Date.now(),
): number | null {
  if (status !== 429 && !(status === 503 && SAFE.has(method))) return null;
  const value = headers['retry-after']?.trim() ?? '';
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) && ms <= MAX_WAIT_MS ? Math.max(0, ms) : null;
}
