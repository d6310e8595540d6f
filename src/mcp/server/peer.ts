import type { Identity, Json, JsonObject } from '../../contracts/index.ts';
import { type Abortable, canonicalJson, sha256 } from '../../tools/index.ts';
import type { RpcError } from './rpc.ts';

/** Who is at the other end, and how it speaks. */
export interface Peer {
  readonly who: Identity;
  readonly conversation: string;
  readonly era: 'legacy' | 'modern';
}

/** The caller of a server that asks nobody who they are. */
export const ANYONE: Identity = Object.freeze({ agent: 'mcp-client', via: 'library' });

/** Known once and for all, since it is frozen. */
const CALLER_OF_ANYONE = digestOf(ANYONE);

/** Whoever may do something else is someone else: what is kept for a caller is found by exactly that caller. */
export function callerOf(who: Identity): string {
  return who === ANYONE ? CALLER_OF_ANYONE : digestOf(who);
}

function digestOf({ agent, user, via, scopes }: Identity): string {
  return sha256(canonicalJson([agent, user ?? null, via, scopes ? [...scopes].sort() : null]));
}

/** One request while it is being answered: what the era and the transport are is known to nobody who answers it. */
export interface Exchange {
  readonly peer: Peer;
  /** Aborted when the request is cancelled, or nobody is left to be answered. */
  readonly signal: Abortable;
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
  /** Tells the client what belongs to no request; only in the older revisions. */
  push?(method: string, params: JsonObject): void;
  /** What is asked is the result of a leg all the same, and `ask` is only how its answers are had. */
  readonly asksByResult?: boolean;
  /** Longest silence and longest call in milliseconds, where it may take longer than calls do. */
  readonly limitMs?: number;
  /** Told of progress, whether the client wants to hear of it or not. */
  progressed?(params: JsonObject): void;
  /** Told that the call asks for what the client didn't declare. */
  lacks?(error: RpcError): void;
  /** The client's revision is one of the older that has tasks. */
  readonly hasTasks?: boolean;
  /**
   * Asks the client while the call waits: on the stream of this request in the older revisions, in its task in any. Absent:
   * what is asked is the result, and the call is made again with the answers. Rejects with why there is no answer.
   */
  ask?(method: string, params: JsonObject | undefined): Promise<Json>;
}
