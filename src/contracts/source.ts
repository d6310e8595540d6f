import type { CallContext, SourceResult } from './call.ts';
import type { Identity, ServerRef } from './identity.ts';
import type { Json, RawJson } from './json.ts';
import type { Reason, ToolDefinition } from './tool.ts';

export interface ToolListing {
  readonly tools: readonly ToolDefinition[];
  readonly setAside: readonly { readonly tool: string; readonly reasons: readonly Reason[] }[];
}

/** Anything that has tools: functions, an MCP connection, an OpenAPI document. A bad tool is a Reason, not a throw. */
export interface Source {
  readonly server: ServerRef | null;
  /**
   * What this source's own configuration says of its calls, in milliseconds and in characters that a model is shown; it
   * stands in for the caller's limits. `startMs`: how long its server may take before it answers the first time.
   */
  readonly limits?: {
    readonly idleMs?: number;
    readonly hardMs?: number;
    readonly maxResultChars?: number;
    readonly startMs?: number;
  };
  /** Rejects only when the source as a whole can't be listed. */
  list(signal: AbortSignal): Promise<ToolListing>;
  /** Never rejects: what goes wrong is a `failure`. */
  call(tool: string, args: Json, ctx: CallContext): Promise<SourceResult>;
  /**
   * What the call would do, in facts from the backend (amount, currency, target), before it is approved. Shown to the
   * approver, open to rules, bound to the approval, and compared again when the call runs. Only for tools whose
   * definition says `preview: {kind: 'author'}`.
   */
  preview?(tool: string, args: Json, ctx: CallContext): Promise<Json>;
  onChange(listener: () => void): () => void;
  /**
   * True while a change of the list has been heard of that `onChange` hasn't told yet, since changes are gathered. Who
   * can't wait for that lists again at once.
   */
  changeDue?(): boolean;
}

export interface ConnectionEra {
  readonly revision: string;
  readonly provenBy: string;
  /** ISO 8601 date and time. */
  readonly at: string;
}

export interface ConnectionStatus {
  readonly state: 'ready' | 'connecting' | 'needs_sign_in' | 'failed' | 'closed';
  readonly reasons: readonly Reason[];
}

/** One MCP peer, either era. Never validates a result; ids, progress and cancellation of this hop are its own. */
export interface Connection {
  readonly server: ServerRef;
  readonly era: ConnectionEra | null;
  request(
    method: string,
    params: Json,
    ctx: Pick<CallContext, 'signal' | 'idleMs' | 'hardMs' | 'onEvent' | 'input' | 'canAnswer'>,
  ): Promise<RawJson>;
  onNotification(listener: (method: string, params: RawJson) => void): () => void;
  status(): ConnectionStatus;
  close(): Promise<void>;
}

export interface Found {
  readonly tool: ToolDefinition;
  readonly source: Source;
}

/** Many sources, one stable list. Order is deterministic and, within a run, append-only. */
export interface Catalog {
  readonly version: string;
  list(who: Identity): readonly ToolDefinition[];
  /** By wire name, regardless of who asks: the dispatcher puts the view before it. */
  find(name: string): Found | undefined;
  explain(name: string, who: Identity): readonly Reason[];
}
