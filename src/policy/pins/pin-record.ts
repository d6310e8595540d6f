import type { JsonObject, ToolDefinition } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';

/** One tool as somebody agreed to it, or as it was seen first. Times are Unix milliseconds. */
export interface PinRecord {
  readonly v: 1;
  readonly id: string;
  readonly place: string;
  /** Null for a tool of the process itself. */
  readonly server: { readonly key: string; readonly fingerprint: string } | null;
  readonly tool: string;
  /** The wire name. */
  readonly name: string;
  /** Of the definition that may be used; null while none may, because the name looks like another one's. */
  readonly pinned: PinnedDefinition | null;
  /** What was seen since and is not agreed to. */
  readonly seen?: PinnedDefinition;
}

export interface PinnedDefinition {
  readonly fingerprint: string;
  readonly definition: JsonObject;
  readonly at: number;
  /** Who agreed; absent: it was seen first. */
  readonly by?: string;
}

/** The same for the same tool of the same server in the same place, however it is defined. */
export function pinId(place: string, { server, tool }: Pick<ToolDefinition['ref'], 'server' | 'tool'>): string {
  const part = (value: string) => sha256(value).slice(0, 8);
  const whose = canonicalJson([place, server && [server.key, server.fingerprint]]);
  return `${part(whose)}-${part(canonicalJson([whose, tool]))}`;
}
