import type { ContentItem, ContentListing, ContentSource, Identity, Reason, ServerRef } from '../contracts/index.ts';
import { isBridleError, printable } from '../tools/index.ts';
import { listWithin } from './list-within.ts';

/** What is known of one source of content. A listing that fails keeps what the last good one had. */
export interface ContentState {
  readonly source: ContentSource;
  readonly state: 'unlisted' | 'ready' | 'failed';
  readonly listing: ContentListing;
  readonly reason?: Reason;
}

/** How a source stands, for a person. */
export interface ContentSourceStatus {
  /** Null: of this process. */
  readonly server: ServerRef | null;
  /** `failed`: it couldn't be listed the last time, and has what it had before. */
  readonly state: ContentState['state'];
  readonly reason?: Reason;
  readonly resources: number;
  readonly templates: number;
  readonly prompts: number;
}

const NOTHING: ContentListing = { resources: [], templates: [], prompts: [], setAside: [] };

export function unlistedContent(source: ContentSource): ContentState {
  return { source, state: 'unlisted', listing: NOTHING };
}

export function statusOf({ source, state, listing, reason }: ContentState): ContentSourceStatus {
  const { resources, templates, prompts } = listing;
  return {
    server: source.server,
    state,
    ...(reason && { reason }),
    resources: resources.length,
    templates: templates.length,
    prompts: prompts.length,
  };
}

/** Lists one source within its time. Never rejects. */
export async function listContent(before: ContentState, listMs: number, signal?: AbortSignal): Promise<ContentState> {
  const { source } = before;
  try {
    const listing = await listWithin((stop) => source.list(stop), listMs, signal);
    return { source, state: 'ready', listing: once(listing) };
  } catch (error) {
    const why = printable(error instanceof Error ? error.message || error.name : String(error), { maxLength: 1_000 });
    const advice = isBridleError(error) && error.hint ? ` ${printable(error.hint, { maxLength: 300 })}` : '';
    const text = `Resources and prompts of ${label(source.server)} could not be listed: ${why.replace(/[.\s]+$/, '')}.${advice}`;
    const reason = { room: 'catalog', code: 'source_not_listed', text };
    return { source, state: 'failed', listing: before.listing, reason };
  }
}

function label(server: ServerRef | null): string {
  return server === null ? 'this process' : `server "${printable(server.key, { maxLength: 80 })}"`;
}

/** The first of one address or name stays; a source is foreign code, and some servers list one twice. */
function once(listing: ContentListing): ContentListing {
  const setAside = [...listing.setAside];
  const first = <T>(kind: ContentItem['kind'], items: readonly T[], idOf: (item: T) => string): readonly T[] => {
    const byId = new Map<string, T>();
    for (const item of items) {
      const id = idOf(item);
      if (!byId.has(id)) byId.set(id, item);
      else setAside.push({ kind, item: printable(id, { maxLength: 200 }), reasons: [TWICE] });
    }
    return [...byId.values()];
  };
  return {
    resources: first('resource', listing.resources, ({ uri }) => uri),
    templates: first('template', listing.templates, ({ uriTemplate }) => uriTemplate),
    prompts: first('prompt', listing.prompts, ({ name }) => name),
    setAside,
  };
}

const TWICE: Reason = {
  room: 'catalog',
  code: 'listed_twice',
  text: 'Its source lists another one of the same address or name before it.',
};

/** A view that can't be had hides the item. */
function canSee(source: ContentSource, item: ContentItem, who: Identity): boolean {
  if (source.visible === undefined) return true;
  try {
    return source.visible(item, who) === true;
  } catch {
    return false;
  }
}

/** What of a source's listing this identity sees. */
export function viewOf({ source, listing }: ContentState, who: Identity): ContentListing {
  if (source.visible === undefined) return listing;
  const sees = (kind: ContentItem['kind'], id: string) => canSee(source, { kind, id }, who);
  return {
    resources: listing.resources.filter(({ uri }) => sees('resource', uri)),
    templates: listing.templates.filter(({ uriTemplate }) => sees('template', uriTemplate)),
    prompts: listing.prompts.filter(({ name }) => sees('prompt', name)),
    setAside: listing.setAside,
  };
}
