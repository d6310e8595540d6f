import type { Truth } from './truth.ts';
import { truthOf } from './truth.ts';

const MOST_PATTERN = 1_000;
const MOST_PROGRAM = 10_000;
/** Steps of one match: program size times length of the text. */
const MOST_WORK = 50_000_000;

interface Compiled {
  programSize(): number;
  matches(text: string): boolean;
}

/** The patterns of a rule set. The engine (RE2, linear in the text) is loaded when it is first needed. */
export class PatternBook {
  readonly #compiled = new Map<string, Compiled | null>();
  #loaded: Promise<void> | undefined;
  #isReady = true;

  add(pattern: string): void {
    this.#compiled.set(pattern, null);
    this.#isReady = false;
  }

  /** False while there are patterns that `load` hasn't compiled. */
  get isReady(): boolean {
    return this.#isReady;
  }

  load(): Promise<void> {
    this.#loaded ??= this.#load();
    return this.#loaded;
  }

  async #load(): Promise<void> {
    const { RE2JS } = await import('re2js');
    for (const pattern of this.#compiled.keys()) this.#compiled.set(pattern, compiled(pattern, RE2JS));
    this.#isReady = true;
  }

  /** Patterns that the engine has no form for; after `load`. */
  unusable(): readonly string[] {
    return [...this.#compiled].flatMap(([pattern, found]) => (found === null ? [pattern] : []));
  }

  /** Whether the pattern matches the whole text; `unknown` when it can't be used, or would take too long. */
  matches(pattern: string, text: string): Truth {
    const found = this.#compiled.get(pattern);
    if (!found || found.programSize() * (text.length + 1) > MOST_WORK) return 'unknown';
    return truthOf(found.matches(text));
  }
}

function compiled(pattern: string, engine: { compile(pattern: string): Compiled }): Compiled | null {
  if (pattern.length > MOST_PATTERN) return null;
  try {
    const made = engine.compile(pattern);
    return made.programSize() > MOST_PROGRAM ? null : made;
  } catch {
    return null;
  }
}
