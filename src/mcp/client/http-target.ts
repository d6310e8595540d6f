import { validateHeaderName, validateHeaderValue } from 'node:http';
import { printable } from '../../tools/index.ts';
import { clientInfo } from './client-info.ts';
import { McpError } from './errors.ts';
import { type HiddenValue, shownUrl, valuesOf, withoutValues } from './secrets.ts';
import type { HttpServer } from './server.ts';

/** Where requests go, and what goes with each of them. */
export interface HttpTarget {
  /** Without user and password. */
  readonly url: URL;
  /** Names in lower case. For the origin of `url` only. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Makes the headers anew after a server refused them.
   *
   * @param used the headers that it refused
   * @returns whether others are sent from now on
   * @throws McpError
   */
  renew?(used: Readonly<Record<string, string>>): Promise<boolean>;
}

/** Headers that are the transport's own: an entry can't set them. */
const RESERVED =
  /^(host|connection|keep-alive|content-length|content-type|transfer-encoding|accept|accept-encoding|te|trailer|upgrade|expect|last-event-id|mcp-(session-id|protocol-version|method|name|param-.*))$/;

/** What must not be shown of a server's entry: the values of its headers, each of their words, and what its URL hides. */
export function headerSecrets(server: Pick<HttpServer, 'url' | 'headers'>): (text: string) => string {
  const secrets: HiddenValue[] = valuesOf(server.headers ?? {}).map(({ value, ...header }) => ({
    ...header,
    // Each word too: a token is mostly echoed without its scheme.
    value: [value, ...value.trim().split(/\s+/)].join('\n'),
  }));
  if (URL.canParse(server.url)) {
    const url = new URL(server.url);
    const { username, password } = url;
    const hide = (name: string, value: string) => secrets.push({ name, value, isSecret: true });
    // As it is sent, too: a server that repeats its headers repeats that.
    hide('user and password', pairOf(url) ?? '');
    hide('password', decoded(password));
    if (password === '') hide('user', decoded(username));
    for (const { name, value, isSecret } of valuesOf(Object.fromEntries(url.searchParams))) {
      if (isSecret) hide(name, value);
    }
  }
  return (text) => withoutValues(text, secrets);
}

/** User and password as the scheme `Basic` sends them (RFC 7617); undefined when there are none. */
function pairOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** How a server is called in messages: by its key and its URL without what may be secret. */
export function httpName(server: HttpServer): string {
  return `MCP server ${printable(JSON.stringify(server.key))} (${httpPlace(server)})`;
}

export function httpPlace({ url }: Pick<HttpServer, 'url'>): string {
  return printable(shownUrl(url));
}

/**
 * Reads an entry's URL and headers.
 *
 * @param made headers that its helper made, which go before its own
 * @throws McpError `mcp_bad_url`, `mcp_bad_header`
 */
export function httpTarget(server: HttpServer, name: string, made: Readonly<Record<string, string>> = {}): HttpTarget {
  const wrongHeader = (text: string, hint: string) =>
    new McpError('mcp_bad_header', `${name} sets ${text}.`, { executed: 'not_executed', hint });
  const url = URL.canParse(server.url) ? new URL(server.url) : null;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new McpError('mcp_bad_url', `${name} has a "url" that isn't an http or https URL.`, {
      executed: 'not_executed',
      hint: 'Correct "url" of its entry.',
    });
  }
  const headers: Record<string, string> = Object.create(null);
  const { name: product, version } = clientInfo();
  headers['user-agent'] = `${product}/${version}`;
  const pair = pairOf(url);
  if (pair !== undefined) headers.authorization = `Basic ${pair}`;
  for (const [given, value] of [...Object.entries(server.headers ?? {}), ...Object.entries(made)]) {
    const header = given.toLowerCase();
    if (RESERVED.test(header)) {
      const text = `the header ${JSON.stringify(given)}, which belongs to the transport`;
      throw wrongHeader(text, 'Take it out of "headers" of its entry, or of what its "headersHelper" prints.');
    }
    try {
      validateHeaderName(header);
      validateHeaderValue(header, value);
    } catch {
      // The cause would show the value.
      const hint = 'Names are tokens, and values have no line breaks and no characters beyond Latin-1.';
      throw wrongHeader(`a header ${JSON.stringify(given)} that HTTP can't carry`, hint);
    }
    headers[header] = value;
  }
  url.username = '';
  url.password = '';
  url.hash = '';
  return { url, headers };
}
