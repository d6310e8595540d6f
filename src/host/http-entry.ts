import type { Node } from 'jsonc-parser';
import type { Reason } from '../contracts/index.ts';
import { isLoopback } from '../tools/index.ts';
import { kindOf } from './config-file.ts';
import { type Member, membersOf, type TreeReader } from './config-tree.ts';
import { type Bad, type CommonEntry, readCommon, scalarOf, stringOf } from './entry-values.ts';

/** A server over the network as it stands in the file, before expansion. */
export interface HttpEntry extends CommonEntry {
  readonly kind: 'http';
  readonly key: string;
  readonly source: NonNullable<Reason['source']>;
  /** Over the entry's canonical JSON. */
  readonly hash: string;
  readonly url: string;
  readonly headers: ReadonlyMap<string, string>;
  /** A command line for the shell, which expands its variables and prints more headers as a JSON object. */
  readonly headersHelper?: string;
  /** The entry names the old HTTP+SSE transport. */
  readonly sse: boolean;
}

/** Types by which hosts name servers over the network. */
export const NETWORK_TYPE = /^(http|sse|ws|streamable-?http)$/i;
/** Keys by which they give the address; only the first is read. */
export const URL_KEYS = ['url', 'httpUrl', 'serverUrl'] as const;

/** Reads an entry with `url`. */
export function readHttp(
  reader: TreeReader,
  key: string,
  keyNode: Node,
  members: ReadonlyMap<string, Member>,
  bad: Bad,
): Omit<HttpEntry, 'kind' | 'key' | 'source' | 'hash'> {
  const type = String(members.get('type')?.value.value ?? 'http').toLowerCase();
  if (type === 'ws') {
    const text = `"${key}" is reached by WebSocket, which is not supported; ask its author for an http address.`;
    throw bad('transport_not_supported_yet', keyNode, text);
  }
  const url = members.get('url');
  if (!url) throw bad('url_missing', keyNode, `"${key}" has no "url", so there is nothing to connect to.`);
  const address = stringOf(url.value, `"url" of "${key}"`, 'url_not_string', bad).trim();
  // What a variable makes of it is seen when it is expanded.
  if (!address.includes('$' + '{') && !isHttp(address)) {
    throw bad('url_not_http', url.value, `"url" of "${key}" is no http or https URL.`);
  }
  for (const name of ['command', 'args', 'env', 'cwd']) {
    if (members.has(name))
      reader.warn('key_without_meaning', keyNode, `"${name}" of "${key}" has no meaning beside "url".`);
  }
  const helper = members.get('headersHelper');
  const headersHelper = helper && readHelper(key, helper.value, bad);
  return {
    url: address,
    headers: readHeaders(reader, key, members.get('headers')?.value, bad),
    ...(headersHelper !== undefined && { headersHelper }),
    sse: type === 'sse',
    ...readCommon(reader, key, members),
  };
}

function readHelper(key: string, node: Node, bad: Bad): string {
  const command = stringOf(node, `"headersHelper" of "${key}"`, 'headers_helper_not_string', bad).trim();
  if (command === '') throw bad('headers_helper_empty', node, `"headersHelper" of "${key}" is empty.`);
  return command;
}

function readHeaders(reader: TreeReader, key: string, node: Node | undefined, bad: Bad): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  if (!node) return headers;
  if (node.type !== 'object') {
    const text = `"headers" of "${key}" is ${kindOf(node)}; an object from name to value is expected.`;
    throw bad('headers_not_object', node, text);
  }
  for (const [name, member] of membersOf(reader, node, `"headers" of "${key}"`)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      throw bad('header_name', member.key, `"headers" of "${key}" has a name that no header can have: "${name}".`);
    }
    headers.set(name, scalarOf(reader, member.value, `"${name}" in "headers" of "${key}"`, 'header_not_string', bad));
  }
  return headers;
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** Where what is sent goes, as the file writes it: the URL's host, which may be a variable. */
export function hostOf(url: string): string {
  const [, authority = ''] = /^[a-z][a-z0-9+.-]*:[/\\]*([^/\\?#]*)/i.exec(url) ?? [];
  return authority.slice(authority.lastIndexOf('@') + 1);
}

/** True for an address whose requests can be read on their way. */
export function isOpenHttp(url: string): boolean {
  if (!URL.canParse(url)) return /^http:/i.test(url);
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isLoopback(hostname);
}
