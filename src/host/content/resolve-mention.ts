import type { FoundResource, Resolved } from '../../catalog/index.ts';
import { BridleError, printable } from '../../tools/index.ts';
import type { ContentPiece } from './content-block.ts';
import { type ContentCaller, type ContentPlaces, isAddress, keyedBy, keyOf } from './content-places.ts';
import type { Mention } from './find-mentions.ts';
import { readLocalFile } from './local-file.ts';
import { readResource } from './read-resource.ts';

/** What a mention stands for. */
export type MentionContent =
  | { readonly kind: 'content'; readonly pieces: readonly ContentPiece[]; readonly resource?: FoundResource }
  /** It stays a word like others; `why` says so to the person. */
  | { readonly kind: 'word'; readonly why: string };

/**
 * Finds and reads what a mention stands for: `server:address`, or what one server alone, or the project's folder, has
 * under that name.
 *
 * @throws BridleError `mention_ambiguous`, `resource_not_found`, `content_denied`, `content_not_read`, and those of
 *   `readLocalFile`
 */
export async function resolveMention(
  mention: Mention,
  places: ContentPlaces,
  caller: ContentCaller,
): Promise<MentionContent> {
  const { what, text } = mention;
  const { catalog, root } = places;
  const keyed = keyedBy(what, catalog);
  // A scheme can be called as a server is.
  if (keyed && !keyed.rest.startsWith('//')) return contentOf(await inServer(mention, keyed, places, caller), caller);
  // `./a` and `/a` can only be files.
  const isPath = /^\.{0,2}\//.test(what);
  const file = what.includes('://') ? undefined : await readLocalFile(what, root);
  const found = isPath
    ? []
    : candidates(await catalog.resolve(what, caller.who, caller.signal)).filter(readable(places));
  const [only, another] = found;
  if (another || (only && file?.kind === 'file')) throw ambiguous(text, what, found, file?.kind === 'file');
  if (file?.kind === 'file') return { kind: 'content', pieces: [file.item] };
  if (only) return contentOf(only, caller);
  const name = printable(text);
  if (file?.kind === 'folder') return { kind: 'word', why: `${name} is a folder; name a file in it.` };
  if (isPath) return { kind: 'word', why: `There is no file ${printable(what)}; ${name} was sent as a word.` };
  return { kind: 'word', why: `${name} is no file here and no server has it; it was sent as a word.` };
}

function candidates(resolved: Resolved<FoundResource>): readonly FoundResource[] {
  if (resolved.kind === 'found') return [resolved.found];
  return resolved.kind === 'ambiguous' ? resolved.candidates : [];
}

function readable({ mayRead }: ContentPlaces): (found: FoundResource) => boolean {
  return ({ source }) => mayRead?.(keyOf(source)) !== false;
}

/** An address at this server, or a name that means one thing there. */
async function inServer(
  { text }: Mention,
  { key, rest }: { readonly key: string; readonly rest: string },
  places: ContentPlaces,
  { who, signal }: ContentCaller,
): Promise<FoundResource> {
  const { catalog } = places;
  const name = printable(key);
  if (places.mayRead?.(key) === false) {
    throw new BridleError('content_denied', `A rule denies reading the resources of server "${name}".`, {
      hint: `'bridle explain mcp__${name}__read_resource' says which. Nothing was sent.`,
    });
  }
  if (isAddress(rest)) {
    const found = catalog.resource(key, rest, who);
    if (found) return found;
  }
  const found = candidates(await catalog.resolve(rest, who, signal)).filter(({ source }) => keyOf(source) === key);
  const [first, another] = found;
  if (another) throw ambiguous(text, rest, found, false);
  if (first) return first;
  throw new BridleError('resource_not_found', `Server "${name}" has no ${printable(rest)}.`, {
    hint: `In 'bridle chat', @${name}: and Tab show what it has. Nothing was sent.`,
  });
}

async function contentOf(resource: FoundResource, caller: ContentCaller): Promise<MentionContent> {
  return { kind: 'content', pieces: await readResource(resource, caller), resource };
}

function ambiguous(text: string, what: string, found: readonly FoundResource[], isFile: boolean): BridleError {
  const written = ({ source, uri }: FoundResource) =>
    /\s/.test(uri) ? `@${keyOf(source)}:"${uri}"` : `@${keyOf(source)}:${uri}`;
  const choices = [...(isFile ? [`@./${what}`] : []), ...found.map(written)];
  const shown = choices.slice(0, 8).map((choice) => printable(choice, { maxLength: 200 }));
  return new BridleError('mention_ambiguous', `${printable(text)} can be ${shown.join(' or ')}.`, {
    hint: 'Write the one that you mean. Nothing was sent.',
  });
}
