import type { Found, Reason, Source, ToolDefinition } from '../contracts/index.ts';
import { sha256 } from '../tools/index.ts';
import { type SetAside, type SourceState, toolLabel } from './source-state.ts';

/** One stable list out of many listings. */
export interface ToolList {
  /** In order; what vanished is left out, its place kept. */
  readonly tools: readonly ToolDefinition[];
  readonly byName: ReadonlyMap<string, Found>;
  readonly setAside: readonly SetAside[];
  /** SHA-256 (hex) over names and fingerprints, in order. */
  readonly version: string;
}

/** Who a wire name belongs to. Once taken, a name keeps its owner and its place for as long as the catalog lives. */
export type Places = Map<string, Owner>;

interface Owner {
  readonly source: Source;
  readonly tool: ToolDefinition;
}

/**
 * Merges listings: sources in their order, tools in the server's; the first to name something has the name. New names
 * take the next places, so that what stood before stays where it was.
 *
 * @param places taken so far; grows
 * @param maxTools most tools in the list; those that come later are set aside
 */
export function mergeListings(states: readonly SourceState[], places: Places, maxTools: number): ToolList {
  const byName = new Map<string, Found>();
  const setAside: SetAside[] = [];
  for (const { source, listing } of states) {
    for (const { tool, reasons } of listing.setAside)
      setAside.push({ server: source.server?.key ?? null, tool, reasons });
    for (const tool of listing.tools) {
      const refusal = takePlace(places, byName, source, tool, maxTools);
      if (refusal) setAside.push({ server: source.server?.key ?? null, tool: tool.ref.tool, reasons: [refusal] });
      else byName.set(tool.ref.name, { tool, source });
    }
  }
  const tools: ToolDefinition[] = [];
  for (const name of places.keys()) {
    const found = byName.get(name);
    if (found) tools.push(found.tool);
  }
  const version = sha256(JSON.stringify(tools.map(({ ref }) => [ref.name, ref.fingerprint])));
  return { tools, byName, setAside, version };
}

/** Why the tool can't be listed, or `undefined` when it has its place. */
function takePlace(
  places: Places,
  byName: ReadonlyMap<string, Found>,
  source: Source,
  tool: ToolDefinition,
  maxTools: number,
): Reason | undefined {
  const { name } = tool.ref;
  const owner = places.get(name);
  const same = owner && owner.source === source && owner.tool.ref.tool === tool.ref.tool;
  if (owner && (!same || byName.has(name))) return taken(name, tool, owner.tool);
  if (!owner && byName.size >= maxTools) return tooMany(tool, maxTools);
  if (!owner) places.set(name, { source, tool });
  return undefined;
}

function taken(name: string, later: ToolDefinition, first: ToolDefinition): Reason {
  const text =
    `${toolLabel(later)} would be called "${name}", which is the name of ${toolLabel(first)}; ` +
    'the first one keeps it. Give one of them another name, or its server another key.';
  return { room: 'catalog', code: 'name_taken', text };
}

function tooMany(tool: ToolDefinition, maxTools: number): Reason {
  const text = `${toolLabel(tool)} comes after the ${maxTools} tools that this catalog takes. Leave out a server, or raise the limit.`;
  return { room: 'catalog', code: 'too_many_tools', text };
}
