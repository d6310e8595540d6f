import type { Json } from '../contracts/index.ts';
import { namesSecret } from '../tools/index.ts';

/** What stands in a cassette where a secret stood. */
const SCRUBBED = '<secret>';

/** Keys that their issuers made recognisable, wherever they stand. */
const KNOWN_SHAPE =
  /\b(?:sk-[\w-]*|gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|AKIA|AIza|ya29\.|eyJ[\w-]{1,2000}\.)[\w./+=-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----BEGIN)[\s\S])*?-----END [A-Z ]*PRIVATE KEY-----/g;
const CREDENTIAL = /\b(Bearer|Basic)\s+[\w./+=~-]{8,}/g;
const URL_PASSWORD = /(:\/\/[^/@\s:"]*):[^/@\s"]+@/g;
/** What is shorter is too common to be replaced wherever it stands. */
const SHORTEST = 6;

/**
 * Takes secrets out of JSON: values that are given, members that are named like secrets, and keys of known shapes, also in
 * JSON that stands in a text.
 *
 * @param secrets values known to be secret; those shorter than 6 characters are not looked for
 */
export function scrubber(secrets: readonly string[]): (value: Json) => Json {
  const known = [...new Set(secrets.map((each) => each.trim()).filter((each) => each.length >= SHORTEST))]
    // One that holds another goes first.
    .sort((a, b) => b.length - a.length);
  const scrubText = (text: string): string => {
    const inner = /^\s*[{[]/.test(text) ? scrubbedJson(text) : undefined;
    if (inner !== undefined) return inner;
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, SCRUBBED);
    return clean
      .replace(KNOWN_SHAPE, SCRUBBED)
      .replace(CREDENTIAL, `$1 ${SCRUBBED}`)
      .replace(URL_PASSWORD, `$1:${SCRUBBED}@`);
  };
  /** A text that is JSON stays as it was spelled unless there is something to take out. */
  const scrubbedJson = (text: string): string | undefined => {
    let value: Json;
    try {
      value = JSON.parse(text) as Json;
    } catch {
      return undefined;
    }
    const before = JSON.stringify(value);
    const after = JSON.stringify(scrub(value));
    return before === after ? text : after;
  };
  const scrub = (value: Json): Json => {
    if (typeof value === 'string') return scrubText(value);
    if (Array.isArray(value)) return value.map(scrub);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        scrubText(key),
        typeof inner === 'string' && inner !== '' && namesSecret(key, 'member') ? SCRUBBED : scrub(inner),
      ]),
    );
  };
  return scrub;
}
