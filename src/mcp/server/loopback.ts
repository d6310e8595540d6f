import { isIP } from 'node:net';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '::1']);

/** True for an address that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host.toLowerCase());
}

function hostnameOf(url: string): string | undefined {
  try {
    return new URL(url).hostname;
  } catch {
    return undefined;
  }
}

/**
 * Keeps web pages out (DNS rebinding, MCP transports, "Security Warning"): a page that a browser on this machine has
 * open can send requests here, but not without naming, in `Host` or `Origin`, the site that it came from.
 *
 * @param listener the address that it listens on, and whether it asks who sent a request
 * @returns why the request is refused, or undefined
 */
export function refusedOrigin(
  listener: { readonly host: string; readonly identifies: boolean },
  headers: { readonly host: string | undefined; readonly origin: string | undefined },
): string | undefined {
  const local = isLoopback(listener.host);
  const named = hostnameOf(`http://${headers.host ?? ''}`);
  if (local && (named === undefined || !isLoopback(named))) {
    return `Host ${headers.host ?? '(none)'} is not this machine`;
  }
  const origin = headers.origin;
  if (origin === undefined) return undefined;
  const from = hostnameOf(origin);
  if (from === undefined) return foreign(origin);
  if (local) return isLoopback(from) ? undefined : foreign(origin);
  // Off loopback the server can't know its own names, but a page may only come from the one it was asked by, and the
  // owner of a name may have it mean this machine: that page has no credentials, but where none are asked for it needs
  // none.
  const own = from === named && (listener.identifies || !canMeanAnything(from, listener.host));
  return own ? undefined : foreign(origin);
}

/** A name of somebody else's making; an address can't be made to mean another machine. */
function canMeanAnything(hostname: string, bound: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 && !isLoopback(hostname) && hostname !== bound.toLowerCase();
}

function foreign(origin: string): string {
  return `Origin ${origin} is not this server's`;
}
