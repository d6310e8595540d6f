import type { Json, JsonObject } from '../../contracts/index.ts';

/** Blocks that every model here can be given. */
const COMMON: ReadonlySet<unknown> = new Set(['text', 'tool_use', 'tool_result', 'image', 'document']);
/** A model's notes to itself: signed by it, and of no use to another. */
const PRIVATE: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);
/** Which tools came and went: another model is sent those that there are. */
const OF_TOOLS: ReadonlySet<unknown> = new Set(['tool_addition', 'tool_removal']);

/**
 * A conversation as another model can read it: without the first one's private notes.
 *
 * @returns null when it holds what only the model that made it can read, such as calls that its provider ran
 */
export function portable(messages: readonly Json[]): Json[] | null {
  const kept: Json[] = [];
  for (const message of messages) {
    if (!isObject(message) || !Array.isArray(message.content)) {
      kept.push(message);
      continue;
    }
    const content = message.content.filter(
      (block) => !(isObject(block) && (PRIVATE.has(block.type) || OF_TOOLS.has(block.type))),
    );
    if (content.some((block) => !isObject(block) || !COMMON.has(block.type))) return null;
    if (content.length > 0) kept.push({ ...message, content });
  }
  return kept;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
