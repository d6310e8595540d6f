/** Any JSON value (RFC 8259). */
export type Json = null | boolean | number | string | Json[] | { [k: string]: Json };
export type JsonObject = { [k: string]: Json };

/**
 * JSON text as it was received, with a lazy, cached parse.
 *
 * Law: results are relayed as `text`; arguments are always re-serialised from `parse()`, so that what runs is what
 * policy saw.
 */
export interface RawJson {
  readonly text: string;
  /** Throws SyntaxError when the text isn't JSON. */
  parse(): Json;
}
