import type { JsonObject } from '../../contracts/index.ts';

/** A request as it arrived, whichever way it came. */
export interface DoubleRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** What goes back: a text at once, or events as they come. `closed`: the connection closes without an answer. */
export type DoubleAnswer =
  | {
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | AsyncIterable<string>;
    }
  | 'closed';

/** Thrown by the events of an answer where its connection is to close in the middle. */
export class ConnectionClosed extends Error {
  constructor() {
    super('the double closed the connection');
    this.name = 'ConnectionClosed';
  }
}

/** What was asked and what it came to. */
export interface Exchange {
  /** From 1. */
  readonly number: number;
  readonly method: string;
  readonly path: string;
  /** The body as it was sent; `null` where it isn't a JSON object. */
  readonly body: JsonObject | null;
  /** The values of `anthropic-beta`. */
  readonly betas: readonly string[];
  /** 0: the connection was closed without an answer. */
  readonly status: number;
  /** Each rule that the request broke, with what the API would say. */
  readonly refusals: readonly { readonly rule: string; readonly message: string }[];
  /** The fault that was played. */
  readonly fault?: string;
  /** The reply, as it stands unstreamed. */
  readonly reply?: JsonObject;
  /** For `count_tokens` and replies. */
  readonly inputTokens?: number;
}
