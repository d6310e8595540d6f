import type { Json, RawJson } from '../contracts/index.ts';

/**
 * Wraps JSON text as received.
 *
 * @param text JSON (RFC 8259); not checked until `parse()` is called
 */
export function rawJson(text: string): RawJson {
  let parsed: Json | undefined;
  return {
    text,
    parse() {
      if (parsed === undefined) parsed = JSON.parse(text) as Json;
      return parsed;
    },
  };
}

/** Serialises a value now; `parse()` reads that text back, so later changes to `value` are not seen. */
export function rawFrom(value: Json): RawJson {
  return rawJson(JSON.stringify(value));
}
