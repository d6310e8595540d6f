import type { Json, JsonObject } from '../contracts/index.ts';
import { canonicalJson, nestsDeeper, sha256 } from '../tools/index.ts';

/**
 * Arguments, fixed as text. Everyone who reads them (policy, the person, the source, the record) gets a fresh value
 * parsed from the same text, so nobody can change what another one saw.
 */
export interface FixedArguments {
  value(): JsonObject;
  /** SHA-256 (hex) of the canonical form: equal for equal arguments. Made when somebody asks, as most calls need none. */
  readonly digest: string;
  /** Of a view's call: what the tool behind it gets. */
  readonly behind?: FixedArguments;
}

class ArgumentsText implements FixedArguments {
  readonly #text: string;
  #digest: string | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  value(): JsonObject {
    return JSON.parse(this.#text) as JsonObject;
  }

  get digest(): string {
    this.#digest ??= sha256(canonicalJson(this.value()));
    return this.#digest;
  }
}

/** The arguments of a view's call, with what the tool behind it gets. */
export function withBehind(args: FixedArguments, behind: FixedArguments): FixedArguments {
  return { value: () => args.value(), digest: args.digest, behind };
}

/** What a permission is bound to: the arguments and, behind a view, what is made of them. */
export function boundDigest({ digest, behind }: FixedArguments): string {
  return behind ? sha256(`${digest} ${behind.digest}`) : digest;
}

/** Far more than any tool needs, and far less than what those who go through arguments by recursion can take. */
const MOST_DEPTH = 500;

/** `undefined` when the value isn't a JSON object, is nested too deeply, or can't be written as JSON at all. */
export function fixArguments(value: unknown): FixedArguments | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  try {
    const text = JSON.stringify(value);
    const args = new ArgumentsText(text);
    // Each level has two brackets: a short text can't be nested too deeply, whatever it says.
    const isShort = text.length < 2 * MOST_DEPTH;
    return isShort || !isTooDeep(args.value()) ? args : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value is nested more deeply than arguments may be. */
export function isTooDeep(value: Json): boolean {
  return nestsDeeper(value, MOST_DEPTH);
}

/** Names a JSON value's type the way JSON does. */
export function jsonType(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
