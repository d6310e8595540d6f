import type { ContentCatalog, FoundResource } from '../../catalog/index.ts';
import type { CallContext, ContentSource } from '../../contracts/index.ts';

/** What a request to a server needs to know of whoever makes it. */
export type ContentCaller = Pick<CallContext, 'who' | 'signal' | 'input'>;

/** Where what a person names is looked for. */
export interface ContentPlaces {
  readonly catalog: ContentCatalog;
  /** The project's folder. */
  readonly root: string;
  /** Whether the rules let this server's resources be read. Default: they do. */
  mayRead?(key: string): boolean;
}

/** A server's key, as a person writes it. */
export function keyOf({ server }: Pick<ContentSource, 'server'>): string {
  return server?.key ?? 'here';
}

/** For people and records. */
export function resourceLabel({ source, uri }: FoundResource): string {
  return `${keyOf(source)}: ${uri}`;
}

/** The server whose key a text begins with, before a colon, and what follows it; the longest key counts. */
export function keyedBy(
  text: string,
  catalog: ContentCatalog,
): { readonly key: string; readonly rest: string } | undefined {
  const keys = catalog.sources().map(keyOf);
  const [key] = keys.filter((one) => text.startsWith(`${one}:`)).sort((a, b) => b.length - a.length);
  return key === undefined ? undefined : { key, rest: text.slice(key.length + 1) };
}

/** True for what begins with a scheme (RFC 3986, 3.1). */
export function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]+:/i.test(text);
}
