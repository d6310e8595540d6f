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

class ParsedJson implements RawJson {
  readonly #value: Json;
  #text: string | undefined;

  constructor(value: Json) {
    this.#value = value;
  }

  get text(): string {
    this.#text ??= JSON.stringify(this.#value);
    return this.#text;
  }

  parse(): Json {
    return this.#value;
  }
}

/**
 * Wraps a value that was parsed from JSON and that nobody changes any more. Its text is written when somebody reads it.
 *
 * @param value one that `JSON.parse` gave
 */
export function rawParsed(value: Json): RawJson {
  return new ParsedJson(value);
}
