import type { Identity, Json, JsonObject } from '../../contracts/index.ts';

/** Who is at the other end, and how it speaks. */
export interface Peer {
  readonly who: Identity;
  readonly conversation: string;
  readonly era: 'legacy' | 'modern';
}

/** The caller of a server that asks nobody who they are. */
export const ANYONE: Identity = { agent: 'mcp-client', via: 'library' };

/** One request while it is being answered: what the era and the transport are is known to nobody who answers it. */
export interface Exchange {
  readonly peer: Peer;
  /** Aborted when the request is cancelled, or nobody is left to be answered. */
  readonly signal: AbortSignal;
  /** The request's `_meta`. */
  readonly meta: JsonObject;
  /** The client's capabilities, as it declared them. */
  readonly capabilities: Json | undefined;
  /** Whether a log message of this level is wanted. */
  wantsLog(level: Json | undefined): boolean;
  /** Tells the client something that belongs to this request; lost when it is gone. Never throws. */
  notify(method: string, params: JsonObject): void;
  /** Ends the connection that the answer is waited for on; the client comes back for it. Absent: it can't. */
  disconnect?(): void;
  /** Asks the client on the stream of this request; only in the older revisions. Rejects with why there is no answer. */
  ask?(method: string, params: JsonObject | undefined): Promise<Json>;
}
