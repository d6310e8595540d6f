import { BlockList, isIP } from 'node:net';
import { isLoopback } from '../../tools/index.ts';
import { McpError } from './errors.ts';
import { shownUrl } from './secrets.ts';

/** What stands between this process and a server. */
export interface HttpProxy {
  /** `http:` or `https:`, without user and password. */
  readonly url: URL;
  /** Value of `Proxy-Authorization`. */
  readonly authorization?: string;
  /** For messages: the variable that names it, and its address. */
  readonly shown: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const HINT = 'Set it to http://host:port of an HTTP proxy, or put the host of the server into NO_PROXY.';

/**
 * The proxy for an address by `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, each in small letters first, as curl reads
 * them. This machine itself is never reached through one.
 *
 * @param name for messages: which server
 * @returns null where the server is reached directly
 * @throws McpError `mcp_bad_proxy` for a proxy of another kind, such as SOCKS, which is not silently gone around
 */
export function proxyFor(target: URL, name: string, env: Environment): HttpProxy | null {
  if (isLoopback(target.hostname) || isExcepted(target, given(env, 'NO_PROXY')?.value ?? '')) return null;
  const own = given(env, target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  const found = own ?? given(env, 'ALL_PROXY');
  if (!found) return null;
  const refuse = (why: string) =>
    new McpError('mcp_bad_proxy', `${name} can't be reached through the proxy in $${found.variable}: ${why}.`, {
      executed: 'not_executed',
      hint: HINT,
    });
  const { variable, value } = found;
  const written = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  // Its text may hold a password.
  if (!URL.canParse(written)) throw refuse('its value is no URL');
  const url = new URL(written);
  if (!own) throw refuse('that variable is not used, and going around it may not be what you want');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw refuse(`a proxy of the kind ${url.protocol.slice(0, -1)} is not supported`);
  }
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const pair = `${decoded(username)}:${decoded(password)}`;
  return {
    url,
    ...(pair !== ':' && { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }),
    shown: `$${variable} (${shownUrl(url.origin)})`,
  };
}

function given(env: Environment, name: string): { readonly variable: string; readonly value: string } | undefined {
  for (const variable of [name.toLowerCase(), name]) {
    const value = env[variable]?.trim();
    if (value) return { variable, value };
  }
  return undefined;
}

function isExcepted({ hostname, port, protocol }: URL, list: string): boolean {
  const host = bare(hostname);
  const portOf = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      if (isIn(host, entry)) return true;
      const [, written = '', wanted] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? ['', entry];
      if (wanted !== undefined && wanted !== portOf) return false;
      const name = bare(written.replace(/^\*?\./, ''));
      return name !== '' && (host === name || (isIP(host) === 0 && host.endsWith(`.${name}`)));
    });
}

/** Whether an address is in a block such as `10.0.0.0/8`. */
function isIn(host: string, block: string): boolean {
  const [, start = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(block) ?? [];
  const family = isIP(host);
  if (family === 0 || isIP(start) !== family || Number(bits) > (family === 4 ? 32 : 128)) return false;
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  const blocks = new BlockList();
  blocks.addSubnet(start, Number(bits), kind);
  return blocks.check(host, kind);
}

/** A host as it is connected to: an IPv6 address without its brackets, a name without the dot at its end. */
export function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
