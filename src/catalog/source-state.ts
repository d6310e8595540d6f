import type { Reason, ServerRef, Source, ToolDefinition, ToolListing } from '../contracts/index.ts';
import type { ViewSet } from '../policy/index.ts';
import { isBridleError, printable } from '../tools/index.ts';
import { listWithin } from './list-within.ts';

export interface SetAside {
  readonly server: string | null;
  readonly tool: string;
  readonly reasons: readonly Reason[];
}

/** What is known of one source. A listing that fails keeps the tools of the last one that didn't. */
export interface SourceState {
  readonly source: Source;
  readonly listing: ToolListing;
  readonly problem?: Reason;
  /** When the listing that is waited for began, Unix ms. */
  readonly waitingSince?: number;
  /** When the last listing was over, Unix ms. */
  readonly listedAt?: number;
}

/** How far a source is: its tools are there, are waited for, or could not be had. */
export interface SourceReadiness {
  /** Null: the tools of this process. */
  readonly server: ServerRef | null;
  readonly state: 'ready' | 'waiting' | 'failed';
  /** Since when it is so, Unix ms. */
  readonly since: number;
  /** Of a source that failed. */
  readonly problem?: Reason;
}

/** A source with tools of an earlier listing counts as ready: they can be called. */
export function readinessOf({ source, listing, problem, waitingSince, listedAt }: SourceState): SourceReadiness {
  const { server } = source;
  const hasTools = listing.tools.length > 0;
  if (problem !== undefined && !hasTools && waitingSince === undefined) {
    return { server, state: 'failed', since: listedAt ?? 0, problem };
  }
  if (listedAt !== undefined && (problem === undefined || hasTools)) return { server, state: 'ready', since: listedAt };
  return { server, state: 'waiting', since: waitingSince ?? 0 };
}

const NOTHING: ToolListing = { tools: [], setAside: [] };

export function unlisted(source: Source): SourceState {
  return { source, listing: NOTHING };
}

/**
 * Lists one source within its time. Never rejects, and never waits longer, whatever the source does.
 *
 * @param listMs longest listing, in milliseconds
 */
export async function listSource(
  state: SourceState,
  { listMs, views }: { readonly listMs: number; readonly views: ViewSet },
  signal?: AbortSignal,
): Promise<SourceState> {
  const { source } = state;
  // A server that may take long to start isn't given up before.
  const longest = source.limits?.startMs === undefined ? listMs : listMs + source.limits.startMs;
  try {
    const listing = await listWithin((stop) => source.list(stop), longest, signal);
    const shown = views.apply(source.server?.key ?? null, whole(listing));
    return { source, listing: shown, listedAt: Date.now() };
  } catch (error) {
    return { source, listing: state.listing, problem: problem(source, state.listing, error), listedAt: Date.now() };
  }
}

/** Sources are foreign code: whatever in a listing isn't what the types say is set aside alone. */
function whole(listing: ToolListing): ToolListing {
  if (!Array.isArray(listing?.tools)) throw new Error('it answered with something that is no list of tools');
  const given: readonly unknown[] = listing.tools;
  const aside: readonly unknown[] = Array.isArray(listing.setAside) ? listing.setAside : [];
  const tools = given.filter(isDefinition);
  const broken = given.length - tools.length;
  const setAside = aside.filter(isSetAside);
  return { tools, setAside: broken === 0 ? setAside : [...setAside, brokenTools(broken)] };
}

function isDefinition(value: unknown): value is ToolDefinition {
  if (typeof value !== 'object' || value === null || !('ref' in value)) return false;
  const { ref } = value;
  if (typeof ref !== 'object' || ref === null || !('name' in ref) || !('tool' in ref)) return false;
  return typeof ref.name === 'string' && typeof ref.tool === 'string';
}

function isSetAside(value: unknown): value is ToolListing['setAside'][number] {
  if (typeof value !== 'object' || value === null || !('tool' in value) || !('reasons' in value)) return false;
  return typeof value.tool === 'string' && Array.isArray(value.reasons);
}

function brokenTools(count: number): ToolListing['setAside'][number] {
  const text = `${count} of the tools listed have no name or are no definitions at all.`;
  return { tool: '*', reasons: [{ room: 'catalog', code: 'not_a_definition', text }] };
}

function problem(source: Source, kept: ToolListing, error: unknown): Reason {
  const why = printable(error instanceof Error ? error.message || error.name : String(error), { maxLength: 1_000 });
  const advice = isBridleError(error) && error.hint ? ` ${printable(error.hint, { maxLength: 300 })}` : '';
  const rest =
    kept.tools.length > 0 ? ` Its ${kept.tools.length} tools from before are kept.` : ' Its tools are missing.';
  return {
    room: 'catalog',
    code: 'source_not_listed',
    text: `${label(source)} could not be listed: ${why.replace(/[.\s]+$/, '')}.${advice}${rest}`,
  };
}

/** A source, as named in a sentence. */
export function label(source: Source): string {
  return source.server === null
    ? 'The tools of this process'
    : `Server "${printable(source.server.key, { maxLength: 80 })}"`;
}

/** A tool, as named in a sentence: by its server's key and as the server spells it. */
export function toolLabel(tool: ToolDefinition): string {
  const name = printable(tool.ref.tool, { maxLength: 80 });
  const server = tool.ref.server;
  return server === null
    ? `"${name}" of this process`
    : `"${name}" of server "${printable(server.key, { maxLength: 80 })}"`;
}
