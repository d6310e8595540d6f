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

/** To whom, and of which tool, by its wire name. */
interface Whose {
  readonly peer: Peer;
  readonly tool: string;
}

/**
 * The request states that were given out (MCP 2026-07-28, Multi Round-Trip Requests). A client whose connection broke
 * sends the leg again with the same state, and can't tell whether the first one arrived: the state is the only thing in
 * the protocol that says that it is the same call, since ids of requests are new each time.
 *
 * A state that was given out twice, as one of a server that keeps nothing apart, names no call: two calls with it may both
 * be meant. Unless it was the same leg that it was given for, sent again: what asks the same again gives the same state.
 */
export interface GivenStates {
  /** @param leg names the leg that is answered with it, in all that it brought; absent where nothing tells whether it comes again */
  give(whose: Whose, conversation: string, state: string, leg?: string): void;
  /** Undefined for a state that wasn't given to this caller by this tool, or more than once. */
  legOf(whose: Whose, state: string): KnownLeg | undefined;
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

interface Given {
  readonly conversation: string;
  readonly leg: string | undefined;
  readonly isOne: boolean;
}

function remember(): GivenStates {
  const given = new Map<string, Given>();
  return {
    give(whose, conversation, state, leg) {
      const key = keyOf(whose, state);
      const before = given.get(key);
      const isOne = !before || (before.isOne && leg !== undefined && before.leg === leg);
      given.delete(key);
      given.set(key, { conversation, leg, isOne });
      const [oldest] = given.keys();
      if (given.size > MOST_GIVEN && oldest !== undefined) given.delete(oldest);
    },
    legOf(whose, state) {
      const redelivery = keyOf(whose, state);
      const known = given.get(redelivery);
      return known?.isOne ? { redelivery, conversation: known.conversation } : undefined;
    },
  };
}

/** Tools that keep nothing apart give equal states, each for calls of its own. */
function keyOf({ peer: { who }, tool }: Whose, state: string): string {
  return sha256(canonicalJson([who.agent, who.user ?? null, tool, state]));
}
