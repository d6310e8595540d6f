import type { JsonObject } from '../../contracts/index.ts';
import { META, memberSlices } from '../wire/index.ts';
import { isObject } from './is-object.ts';
import { inOneLine } from './json-text.ts';

/** A result with its JSON as received. */
export interface Result {
  readonly result: JsonObject;
  readonly text: string;
}

/** What a modern result says of itself that an older client doesn't know. */
const MODERN_ONLY = ['resultType', 'ttlMs', 'cacheScope'] as const;

/** White space of JSON (RFC 8259, 2), as UTF-16 code units. */
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** JSON text of an object with members before its own. `members` is JSON without its braces. */
function withMembers(text: string, members: string): string {
  const open = text.indexOf('{') + 1;
  let first = open;
  while (SPACE.has(text.charCodeAt(first))) first += 1;
  return `{${members}${text[first] === '}' ? '' : ','}${text.slice(open)}`;
}

/**
 * A result for a client of 2026-07-28: with its `resultType`, and who answered (MCP, Base Protocol, `_meta`), unless it
 * says so itself. What else it holds stays as received.
 *
 * @param serverInfo JSON text
 */
export function modernResult({ result, text }: Result, serverInfo: string): string {
  const info = `${JSON.stringify(META.serverInfo)}:${serverInfo}`;
  let whole = text;
  let added = Object.hasOwn(result, 'resultType') ? '' : '"resultType":"complete"';
  if (!Object.hasOwn(result, '_meta')) added = `${added}${added && ','}"_meta":{${info}}`;
  else if (isObject(result._meta) && !Object.hasOwn(result._meta, META.serverInfo)) {
    const slice = memberSlices(text).get('_meta');
    if (slice) {
      const meta = withMembers(text.slice(slice.start, slice.end), info);
      whole = text.slice(0, slice.start) + meta + text.slice(slice.end);
    }
  }
  return inOneLine(added === '' ? whole : withMembers(whole, added));
}

/**
 * A result for a client of the older revisions, which know only objects as structured content: any other stands as text.
 */
export function legacyResult({ result, text }: Result): string {
  const isPlain =
    !MODERN_ONLY.some((name) => Object.hasOwn(result, name)) &&
    (!Object.hasOwn(result, 'structuredContent') || isObject(result.structuredContent));
  if (isPlain) return inOneLine(text);
  const members = new Map([...memberSlices(text)].map(([name, { start, end }]) => [name, text.slice(start, end)]));
  for (const name of MODERN_ONLY) members.delete(name);
  const structured = members.get('structuredContent');
  if (structured !== undefined && !isObject(result.structuredContent)) {
    members.delete('structuredContent');
    const isSaid = Array.isArray(result.content) && result.content.length > 0;
    if (!isSaid) members.set('content', JSON.stringify([{ type: 'text', text: structured }]));
  }
  return inOneLine(`{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`);
}
