/**
 * What is known of Claude models by name: list prices and output limits, as data.
 *
 * Prices: USD per million tokens from Anthropic's public pricing page (platform.claude.com, "Pricing") and its model
 * pages, as of `FACTS_AS_OF`. Batch discounts, fast mode, regional surcharges and an organization's own terms are not
 * in it.
 */
export const FACTS_AS_OF = '2026-10-24';

/** USD per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly cacheRead: number;
}

export interface ModelFacts {
  readonly price: Price;
  /** Applies to the whole request when its prompt, cache reads and writes included, is longer than `above` tokens. */
  readonly longPrompt?: { readonly above: number; readonly price: Price };
  /** The most tokens that one reply may have. */
  readonly maxOutput: number;
  /**
   * Takes messages of the role `system` in the middle of a conversation (Opus 4.8 and later, not Sonnet 5), also those that
   * tell which tools come and go ("Mid-conversation tool changes", the same models).
   */
  readonly systemMessages?: boolean;
  /** False: its tools can't be called by code of the provider's container ("Programmatic tool calling", models). */
  readonly programmatic?: boolean;
  /** False: takes no deferred tools and no `tool_reference` ("Tool search tool", model compatibility: Opus 4.1 and earlier don't). */
  readonly toolReferences?: boolean;
}

/** Cache writes cost 1.25 (5 minutes) and 2 times (1 hour) the input price on every model. */
function price(input: number, output: number, cacheRead: number): Price {
  return { input, output, cacheWrite5m: input * 1.25, cacheWrite1h: input * 2, cacheRead };
}

const FACTS: ReadonlyMap<string, ModelFacts> = new Map([
  ['claude-fable-5-1', { price: price(10, 50, 0.25), maxOutput: 128_000 }],
  ['claude-mythos-5-1', { price: price(10, 50, 0.25), maxOutput: 128_000 }],
  ['claude-fable-5', { price: price(10, 50, 1), maxOutput: 128_000 }],
  ['claude-mythos-5', { price: price(10, 50, 1), maxOutput: 128_000 }],
  ['claude-opus-5-5', { price: price(4, 20, 0.2), maxOutput: 128_000 }],
  ['claude-opus-5', { price: price(5, 25, 0.5), maxOutput: 128_000 }],
  ['claude-opus-4-8', { price: price(5, 25, 0.5), maxOutput: 128_000 }],
  ['claude-opus-4-7', { price: price(5, 25, 0.5), maxOutput: 128_000 }],
  ['claude-opus-4-6', { price: price(5, 25, 0.5), maxOutput: 128_000 }],
  ['claude-opus-4-5', { price: price(5, 25, 0.5), maxOutput: 64_000 }],
  ['claude-opus-4-1', { price: price(15, 75, 1.5), maxOutput: 32_000, toolReferences: false }],
  ['claude-opus-4', { price: price(15, 75, 1.5), maxOutput: 32_000, toolReferences: false }],
  ['claude-sonnet-5-5', { price: price(2, 10, 0.1), maxOutput: 128_000 }],
  ['claude-sonnet-5', { price: price(2, 10, 0.2), maxOutput: 128_000 }],
  ['claude-sonnet-4-6', { price: price(3, 15, 0.3), maxOutput: 64_000 }],
  ['claude-sonnet-4-5', { price: price(3, 15, 0.3), maxOutput: 64_000 }],
  ['claude-sonnet-4', { price: price(3, 15, 0.3), maxOutput: 64_000, toolReferences: false }],
  [
    'claude-haiku-5-5',
    {
      price: price(0.1, 0.5, 0.01),
      longPrompt: { above: 100_000, price: price(0.5, 2.5, 0.05) },
      maxOutput: 128_000,
    },
  ],
  ['claude-haiku-4-5', { price: price(1, 5, 0.1), maxOutput: 64_000, programmatic: false }],
  ['claude-3-5-haiku', { price: price(0.8, 4, 0.08), maxOutput: 8_192, programmatic: false, toolReferences: false }],
]);

/**
 * The name under which the facts are listed: without the provider in front, and without date, `-latest`, region or
 * context marks behind. Nothing is guessed from a similar name: a new version is unknown until it is listed.
 */
export function familyOf(modelId: string): string {
  return modelId
    .toLowerCase()
    .replace(/^(?:[a-z]{2,6}\.)?anthropic[:/.]/, '')
    .replace(/\[1m\]$/, '')
    .replace(/-v\d+(?::\d+)?$/, '')
    .replace(/(?:[-@]\d{8}|-latest|-0)$/, '');
}

/** @param modelId e.g. `claude-opus-5-5`, `claude-haiku-4-5-20251001`, `anthropic/claude-sonnet-5` */
export function modelFacts(modelId: string): ModelFacts | undefined {
  return FACTS.get(familyOf(modelId));
}

/**
 * The newest Claude model of a family that is known, e.g. `claude-sonnet-5-5` for `sonnet`.
 *
 * @param family a short name, as other programs take it, in any case
 */
export function newestClaude(family: string): string | undefined {
  // The newest of each family is listed first.
  return [...FACTS.keys()].find((id) => id.startsWith(`claude-${family.toLowerCase()}-`));
}
