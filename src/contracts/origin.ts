import type { Json } from './json.ts';

/**
 * Where the value of one leaf of a call's arguments came from, as far as comparing texts can tell. A value that stands
 * in several places came from the first of: the user's words, trusted context (such as the system prompt), the result
 * of an earlier call. `nowhere`: the model made it.
 */
export type Origin =
  | { readonly from: 'user' }
  | { readonly from: 'context' }
  /** `server`: its key; null for a tool of this process. */
  | { readonly from: 'result'; readonly callId: string; readonly server: string | null }
  | { readonly from: 'nowhere' };

/** What is known of a conversation when a call is made. Said by who keeps the conversation, never by the model. */
export interface Provenance {
  /**
   * By JSON Pointer (RFC 6901) of each leaf; a key that the tool's schema doesn't declare is `key:` and the pointer of what
   * stands under it. A leaf that couldn't be looked up, or stands under a key that couldn't, is left out: rules take it as
   * unknown.
   * Asked again whenever somebody changed the arguments, and for the call of a preview of its own.
   *
   * @param schema of the arguments of the tool that gets them; without one, no key is looked up
   */
  origins(args: Json, schema?: Json): ReadonlyMap<string, Origin>;
  /** Such as `untrusted-content`, and `server:KEY` for each server whose results have entered. */
  readonly labels: ReadonlySet<string>;
}
