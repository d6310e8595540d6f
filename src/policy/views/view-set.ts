import type { JsonObject, Reason, ToolDefinition, ToolListing } from '../../contracts/index.ts';
import { wireName } from '../../tools/index.ts';
import { definitionFingerprint, pinnedDefinition } from '../pins/canonical-definition.ts';
import { type ApplyOptions, applyView, viewReason } from './apply-view.ts';
import type { View } from './view.ts';

/** Which definitions views were reviewed against. Never throws. */
export interface ViewPins {
  /** The fingerprint that was accepted; undefined: none yet. */
  accepted(view: View): string | undefined;
  /** Told of the first definition that a view meets, which counts from then on. */
  first(view: View, of: ToolDefinition): void;
}

export interface ViewSetOptions extends ApplyOptions {
  /** Default: the first definition that is met counts for as long as the set lives. */
  readonly pins?: ViewPins;
}

/** A tool that a view is missing from a listing, with the reason. */
type Aside = ToolListing['setAside'][number];

/** The views of one catalog. */
export interface ViewSet {
  readonly views: readonly View[];
  /**
   * A source's listing with the views in place of the tools that they narrow. A view that doesn't fit, or whose tool
   * has changed since it was reviewed, is set aside, and its tool stays hidden.
   *
   * @param server the source's key; null for the tools of this process
   */
  apply(server: string | null, listing: ToolListing): ToolListing;
  /**
   * Views without a tool, with the reason.
   *
   * @param servers the keys of all sources
   * @param listed those of the sources that have been listed
   */
  without(
    servers: readonly (string | null)[],
    listed: readonly (string | null)[],
  ): readonly (Aside & { readonly server: string | null })[];
}

export function createViewSet(views: readonly View[], options: ViewSetOptions = {}): ViewSet {
  const met = new Map<View, string>();
  /** A server may have more than one source, so one of them alone doesn't tell what there isn't. */
  const found = new Set<View>();
  const pins: ViewPins = options.pins ?? {
    accepted: (view) => met.get(view),
    first: (view, of) => void met.set(view, reviewOf(of).fingerprint),
  };
  return {
    views,
    apply(server, listing) {
      const mine = views.filter((view) => view.server === server);
      for (const view of mine) if (listing.tools.some(({ ref }) => ref.tool === view.tool)) found.add(view);
      return mine.length === 0 ? listing : viewed(mine, server, listing, pins, options);
    },
    without(servers, listed) {
      const aside = (view: View, code: string, what: string) => ({
        server: view.server,
        tool: view.name,
        reasons: [viewReason(view, code, what)],
      });
      return views.flatMap((view) => {
        if (!servers.includes(view.server)) {
          return aside(view, 'view_without_server', 'has no tool: nothing of that name is configured, or started.');
        }
        if (found.has(view) || !listed.includes(view.server)) return [];
        return aside(view, 'view_without_tool', 'has no tool: its server lists none of that name.');
      });
    },
  };
}

function viewed(
  views: readonly View[],
  server: string | null,
  listing: ToolListing,
  pins: ViewPins,
  options: ViewSetOptions,
): ToolListing {
  const wire = (tool: string) => wireName(server, tool);
  /** By wire name, the tool of the server that has it, hidden ones included. */
  const taken = new Map<string, string>();
  for (const { tool } of listing.setAside) taken.set(wire(tool), tool);
  for (const { ref } of listing.tools) taken.set(ref.name, ref.tool);
  const given = new Set<string>();
  const setAside: Aside[] = [...listing.setAside];
  const refuse = (view: View, reason: Reason) => void setAside.push({ tool: view.name, reasons: [reason] });
  const tools: ToolDefinition[] = [];
  for (const tool of listing.tools) {
    const over = views.filter((view) => view.tool === tool.ref.tool);
    const isKept = over.every((view) => view.keepsTool && view.problem === undefined);
    if (isKept) tools.push(tool);
    for (const view of over) {
      const name = wire(view.name);
      const owner = taken.get(name);
      if ((owner !== undefined && (owner !== tool.ref.tool || isKept)) || given.has(name)) {
        refuse(
          view,
          viewReason(view, 'view_name_taken', `would take the name "${name}" of another tool. Give it another.`),
        );
        continue;
      }
      const made = pinned(view, tool, pins) ?? applyView(tool, view, options);
      if ('problem' in made) refuse(view, made.problem);
      else {
        given.add(name);
        tools.push(made.tool);
      }
    }
  }
  return { tools, setAside };
}

/** What somebody who writes a view has read: the definition as its server gave it, and its fingerprint (SHA-256, hex). */
export function reviewOf(of: ToolDefinition): { readonly definition: JsonObject; readonly fingerprint: string } {
  const definition = pinnedDefinition(of);
  return { definition, fingerprint: definitionFingerprint(definition) };
}

/** A view was written for the words that its author read: with others it stops. */
function pinned(view: View, of: ToolDefinition, pins: ViewPins): { readonly problem: Reason } | undefined {
  if (view.problem !== undefined) return undefined;
  const expected = view.upstream ?? pins.accepted(view);
  if (expected === undefined) {
    pins.first(view, of);
    return undefined;
  }
  const { fingerprint } = reviewOf(of);
  if (expected === fingerprint) return undefined;
  const how = view.upstream === undefined ? '' : `, and then write the view's "upstream" as ${fingerprint}`;
  const text = `is stopped: the tool behind it has changed since the view was reviewed. Look at what it is now${how}.`;
  return { problem: viewReason(view, 'view_upstream_changed', text) };
}
