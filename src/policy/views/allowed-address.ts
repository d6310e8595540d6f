/** A host of a view's list, normalised as addresses are. */
export interface AllowedHost {
  readonly text: string;
  readonly hostname: string;
  /** Its subdomains, not itself. */
  readonly below: boolean;
  /** Undefined: only the scheme's own. */
  readonly port?: number;
}

const MOST_CHARACTERS = 8_192;
const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
]);
export const ADDRESS_SCHEMES: readonly string[] = [...DEFAULT_PORTS.keys()];

/**
 * Reads an entry such as `docs.example.com`, `*.example.com` or `localhost:8080`.
 *
 * @returns undefined when it is no host
 */
export function readHost(text: string): AllowedHost | undefined {
  const below = text.startsWith('*.');
  const host = below ? text.slice(2) : text;
  if (!/^[\x21-\x7e]+$/.test(host) || /[/?#@\\%*]/.test(host)) return undefined;
  const [, port] = /:([0-9]{1,5})$/.exec(host) ?? [];
  const url = parse(`https://${host}`);
  if (url?.pathname !== '/') return undefined;
  const hostname = plainHostname(url.hostname);
  if (hostname === undefined || (below && (isAddress(hostname) || !hostname.includes('.')))) return undefined;
  return { text, hostname, below, ...(port !== undefined && { port: Number(port) }) };
}

/**
 * Whether an address is one of the allowed hosts', as the WHATWG URL standard reads it. What programs read differently
 * (user information, backslashes, unseen or encoded characters in the host, missing slashes) is refused.
 *
 * @returns the address as the standard writes it, which is what goes on: whoever reads it next reads the same
 */
export function allowedAddress(
  text: string,
  hosts: readonly AllowedHost[],
  schemes: readonly string[],
): { readonly href: string } | { readonly why: string } {
  if (text.length > MOST_CHARACTERS) return { why: 'is too long for an address' };
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes('\\')) {
    return { why: 'has characters that an address may not have; percent-encode them' };
  }
  const [, scheme = '', authority = ''] = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\/([^/?#]+)(?:[/?#]|$)/.exec(text) ?? [];
  if (authority === '') return { why: `must be a whole address, such as ${schemes[0]}://…` };
  if (!schemes.includes(scheme.toLowerCase())) return { why: `must begin with ${schemes.join(':// or ')}://` };
  if (authority.includes('@')) return { why: 'must not have a user name or password before the host' };
  if (authority.includes('%')) return { why: 'must not have percent-encoding in its host' };
  const url = parse(text);
  const hostname = url && plainHostname(url.hostname);
  if (!url || hostname === undefined || url.username !== '' || url.password !== '') {
    return { why: 'is not an address that can be read' };
  }
  const name = url.protocol.slice(0, -1);
  const port = url.port === '' ? DEFAULT_PORTS.get(name) : Number(url.port);
  const isAllowed = hosts.some(
    (host) =>
      (host.below ? hostname.endsWith(`.${host.hostname}`) && !isAddress(hostname) : hostname === host.hostname) &&
      port === (host.port ?? DEFAULT_PORTS.get(name)),
  );
  if (!isAllowed) return { why: `must be at ${hosts.map((host) => host.text).join(' or ')}` };
  url.hostname = hostname;
  return { href: url.href };
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Without the dot that some resolvers take for the same name. */
function plainHostname(hostname: string): string | undefined {
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  return name === '' || name.endsWith('.') ? undefined : name;
}

/** The standard writes every form of an IPv4 address as four decimals, and IPv6 in brackets. */
function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || /^[0-9]+(\.[0-9]+){3}$/.test(hostname);
}
