import type { Failure, Json, JsonObject, RawJson } from '../contracts/index.ts';
import { isJsonObject, ownMember } from './json-object.ts';

/**
 * What a result that its tool calls an error says of itself, where it says it in a form that is known. It is the tool's
 * word and no more than a hint: it makes no write repeatable, and nothing is allowed or undone by it.
 */
export interface FailureHint {
  readonly category?: Failure['category'];
  readonly retryable?: boolean;
  readonly partial?: Json;
}

/** Longer text is no error message; reading it would only cost. */
const LONGEST = 100_000;

const CATEGORIES: ReadonlyMap<Json, Failure['category']> = new Map(
  (['transient', 'validation', 'business', 'permission'] as const).map((each) => [each, each]),
);

/**
 * Reads the hint of an MCP `CallToolResult` with `isError`: from `structuredContent`, else from a text block that is JSON.
 * Known are the members of our own wire form (`errorCategory`, `isRetryable`, `partialResults`) and what others write for
 * them: `category`, `retryable`, `retriable`, also inside a member `error`.
 */
export function failureHint(result: RawJson): FailureHint {
  for (const said of objectsIn(result)) {
    const inner = ownMember(said, 'error');
    const hint = hintIn(said) ?? (isJsonObject(inner) ? hintIn(inner) : null);
    if (hint !== null) return hint;
  }
  return {};
}

function hintIn(said: JsonObject): FailureHint | null {
  const category = first(said, ['errorCategory', 'category'], (value) => CATEGORIES.get(value));
  const retryable = first(said, ['isRetryable', 'retryable', 'retriable'], (value) =>
    typeof value === 'boolean' ? value : undefined,
  );
  if (category === undefined && retryable === undefined) return null;
  const partial = ownMember(said, 'partialResults');
  return {
    ...(category !== undefined && { category }),
    ...(retryable !== undefined && { retryable }),
    ...(partial !== undefined && { partial }),
  };
}

function first<T>(said: JsonObject, keys: readonly string[], read: (value: Json) => T | undefined): T | undefined {
  for (const key of keys) {
    const value = ownMember(said, key);
    const known = value === undefined ? undefined : read(value);
    if (known !== undefined) return known;
  }
  return undefined;
}

function* objectsIn(result: RawJson): Iterable<JsonObject> {
  if (result.text.length > LONGEST) return;
  const parsed = parsedObject(() => result.parse());
  if (parsed === null) return;
  const structured = ownMember(parsed, 'structuredContent');
  if (isJsonObject(structured)) yield structured;
  const content = ownMember(parsed, 'content');
  for (const block of Array.isArray(content) ? content : []) {
    if (!isJsonObject(block) || block.type !== 'text' || typeof block.text !== 'string') continue;
    const { text } = block;
    const said = text.trimStart().startsWith('{') ? parsedObject(() => JSON.parse(text) as Json) : null;
    if (said !== null) yield said;
  }
}

function parsedObject(parse: () => Json): JsonObject | null {
  try {
    const value = parse();
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
