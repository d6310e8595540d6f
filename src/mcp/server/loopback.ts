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
 * @param bound the address that the server listens on
 * @param headers names in lower case
 * @returns why the request is refused, or undefined
 */
export function refusedOrigin(bound: string, headers: ReadonlyMap<string, string>): string | undefined {
  const named = hostnameOf(`http://${headers.get('host') ?? ''}`);
  if (isLoopback(bound) && (named === undefined || !isLoopback(named))) {
    return `Host ${headers.get('host') ?? '(none)'} is not this machine`;
  }
  const origin = headers.get('origin');
  if (origin === undefined) return undefined;
  const from = hostnameOf(origin);
  // Off loopback the server can't know its own names, but a page may only come from the one it was asked by.
  const own = from !== undefined && (isLoopback(bound) ? isLoopback(from) : from === named);
  return own ? undefined : `Origin ${origin} is not this server's`;
}
