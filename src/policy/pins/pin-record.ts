import type { JsonObject, ServerRef, ToolDefinition } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import { definitionFingerprint, pinnedDefinition } from './canonical-definition.ts';

/** One tool as somebody agreed to it, or as it was seen first. Times are Unix milliseconds. */
export interface PinRecord {
  readonly v: 1;
  readonly id: string;
  readonly place: string;
  /** Null for a tool of the process itself. */
  readonly server: { readonly key: string; readonly fingerprint: string } | null;
  /** Null: what is pinned are the server's instructions. */
  readonly tool: string | null;
  /** The wire name; for instructions `mcp__` and the server's key. */
  readonly name: string;
  /** Of the definition that may be used; null while none may, because the name looks like another one's. */
  readonly pinned: PinnedDefinition | null;
  /** What was seen since and is not agreed to. */
  readonly seen?: PinnedDefinition;
  /** The wire name of the tool that this one could be taken for, until somebody accepts it. */
  readonly like?: string;
}

export interface PinnedDefinition {
  readonly fingerprint: string;
  readonly definition: JsonObject;
  readonly at: number;
  /** Who agreed; absent: it was seen first. */
  readonly by?: string;
}

/** What can be pinned: a tool's definition, or what a server says of how to use its tools. */
export interface Pinnable {
  readonly server: Pick<ServerRef, 'key' | 'fingerprint'> | null;
  readonly tool: string | null;
  readonly name: string;
  readonly definition: JsonObject;
  readonly fingerprint: string;
}

/** A definition is read and hashed once, however often it is asked about. */
const read = new WeakMap<ToolDefinition, Pinnable>();

export function pinnableTool(tool: ToolDefinition): Pinnable {
  const known = read.get(tool);
  if (known) return known;
  const { server, tool: name, name: wire } = tool.ref;
  const definition = pinnedDefinition(tool);
  const made = { server, tool: name, name: wire, definition, fingerprint: definitionFingerprint(definition) };
  read.set(tool, made);
  return made;
}

/** @param text the server's instructions; empty for none, so that a text that comes later is a change */
export function pinnableInstructions(server: Pick<ServerRef, 'key' | 'fingerprint'>, text: string): Pinnable {
  const definition = { instructions: text };
  const fingerprint = definitionFingerprint(definition);
  return { server, tool: null, name: `mcp__${server.key}`, definition, fingerprint };
}

/** The same for the same tool of the same server in the same place, however it is defined. */
export function pinId(place: string, { server, tool }: Pick<Pinnable, 'server' | 'tool'>): string {
  const part = (value: string) => sha256(value).slice(0, 8);
  const whose = canonicalJson([place, server && [server.key, server.fingerprint]]);
  return `${part(whose)}-${part(canonicalJson([whose, tool]))}`;
}
