import type { Reason, ToolDefinition, ToolListing } from '../../contracts/index.ts';
import { wireName } from '../../tools/index.ts';
import { type ApplyOptions, applyView, viewReason } from './apply-view.ts';
import type { View } from './view.ts';
import { heldAtCall, pinsInMemory, stopped, type ViewPins } from './view-pins.ts';

export interface ViewSetOptions extends ApplyOptions {
  /** Default: the first definition that is met counts for as long as the set lives. */
  readonly pins?: ViewPins;
}

/** A tool that a view is missing from a listing, with the reason. */
type Aside = ToolListing['setAside'][number];

/** What a view came to when its tool was listed last. */
export interface ViewOutcome {
  /** The tool behind it, as it is listed. */
  readonly of: ToolDefinition;
  /** Why the view is set aside; absent: it is used. */
  readonly why?: Reason;
}

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
  /** Undefined: nothing was listed that it narrows. */
  outcome(view: View): ViewOutcome | undefined;
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
  /** A server may have more than one source, so one of them alone doesn't tell what there isn't. */
  const found = new Map<View, ViewOutcome>();
  const pins = options.pins ?? pinsInMemory();
  return {
    views,
    apply(server, listing) {
      const mine = views.filter((view) => view.server === server);
      if (mine.length === 0) return listing;
      return viewed(mine, server, listing, pins, options, (view, outcome) => found.set(view, outcome));
    },
    outcome: (view) => found.get(view),
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
  options: ApplyOptions,
  tell: (view: View, outcome: ViewOutcome) => void,
): ToolListing {
  const wire = (tool: string) => wireName(server, tool);
  /** By wire name, the tool of the server that has it, hidden ones included. */
  const taken = new Map<string, string>();
  for (const { tool } of listing.setAside) taken.set(wire(tool), tool);
  for (const { ref } of listing.tools) taken.set(ref.name, ref.tool);
  const given = new Set<string>();
  const setAside: Aside[] = [...listing.setAside];
  /** A server may list two of one name: the one that is used counts, or else the first. */
  const told = new Set<View>();
  const used = new Set<View>();
  const refuse = (view: View, of: ToolDefinition, why: Reason) => {
    setAside.push({ tool: view.name, reasons: [why] });
    if (!told.has(view)) tell(view, { of, why });
    told.add(view);
  };
  const tools: ToolDefinition[] = [];
  for (const tool of listing.tools) {
    const over = views.filter((view) => view.tool === tool.ref.tool);
    const isKept = over.every((view) => view.keepsTool && view.problem === undefined);
    if (isKept) tools.push(tool);
    for (const view of over) {
      const name = wire(view.name);
      const owner = taken.get(name);
      if (used.has(view)) {
        refuse(
          view,
          tool,
          viewReason(view, 'view_name_taken', 'is used for another tool of that name: its server lists two.'),
        );
        continue;
      }
      if ((owner !== undefined && (owner !== tool.ref.tool || isKept)) || given.has(name)) {
        const text = `would take the name "${name}" of another tool. Give it another.`;
        refuse(view, tool, viewReason(view, 'view_name_taken', text));
        continue;
      }
      const why = stopped(view, tool, pins);
      const made = why ? { problem: why } : applyView(tool, view, options);
      if ('problem' in made) {
        refuse(view, tool, made.problem);
        continue;
      }
      pins.met(view, tool);
      given.add(name);
      told.add(view);
      used.add(view);
      tools.push(heldAtCall(made.tool, view, pins));
      tell(view, { of: tool });
    }
  }
  return { tools, setAside };
}
