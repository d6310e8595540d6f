import type { ToolHost } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import type { Peer } from './peer.ts';

/** Most states remembered; the oldest is forgotten first, and a leg that comes with it is a call like any other. */
const MOST_GIVEN = 10_000;

/** The leg of a call that a client comes back with: what names it, and the conversation that the call began in. */
export interface KnownLeg {
  readonly redelivery: string;
  readonly conversation: string;
}

/**
 * The request states that were given out (MCP 2026-07-28, Multi Round-Trip Requests). A client whose connection broke
 * sends the leg again with the same state, and can't tell whether the first one arrived: the state is the only thing in
 * the protocol that says that it is the same call, since ids of requests are new each time.
 *
 * A state that was given out twice, as one of a server that keeps nothing apart, names no call: two calls with it may both
 * be meant.
 */
export interface GivenStates {
  give(peer: Peer, conversation: string, state: string): void;
  /** Undefined for a state that wasn't given to this caller, or more than once. */
  legOf(peer: Peer, state: string): KnownLeg | undefined;
}

/** A client of 2026-07-28 over HTTP has a server of its own for each request: what they share is the host. */
const OF_HOST = new WeakMap<ToolHost, GivenStates>();

export function givenStates(host: ToolHost): GivenStates {
  const known = OF_HOST.get(host);
  if (known) return known;
  const fresh = remember();
  OF_HOST.set(host, fresh);
  return fresh;
}

function remember(): GivenStates {
  const given = new Map<string, { readonly conversation: string; readonly isOne: boolean }>();
  return {
    give(peer, conversation, state) {
      const key = keyOf(peer, state);
      const isOne = !given.has(key);
      given.delete(key);
      given.set(key, { conversation, isOne });
      const [oldest] = given.keys();
      if (given.size > MOST_GIVEN && oldest !== undefined) given.delete(oldest);
    },
    legOf(peer, state) {
      const redelivery = keyOf(peer, state);
      const known = given.get(redelivery);
      return known?.isOne ? { redelivery, conversation: known.conversation } : undefined;
    },
  };
}

function keyOf({ who }: Peer, state: string): string {
  return sha256(canonicalJson([who.agent, who.user ?? null, state]));
}
