import type { Json, JsonObject } from '../contracts/index.ts';

/** True for a JSON object; arrays and null are none. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A message's content as blocks: a string is one text block, anything else that isn't an array is nothing. */
export function contentBlocks(content: Json | undefined): readonly Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content : [];
}

/** True for a block of exactly this type. */
export function isBlock(block: Json | undefined, type: string): block is JsonObject {
  return isObject(block) && block.type === type;
}

/** True for a list of texts and nothing else. */
export function isStringList(value: Json | undefined): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** True for text that the Messages API refuses in a content block: empty, or white space only. */
export function isBlank(block: Json): boolean {
  return isBlock(block, 'text') && (typeof block.text !== 'string' || block.text.trim() === '');
}

/** The text blocks' text, joined. For people to read; nothing is ever decided by it. */
export function textOf(blocks: readonly Json[]): string {
  return blocks
    .map((block) => (isBlock(block, 'text') && typeof block.text === 'string' ? block.text : ''))
    .join('')
    .trim();
}

/** The id of a call that the provider runs itself (`server_tool_use`, `mcp_tool_use`), or null for any other block. */
export function serverCallId(block: Json): string | null {
  if (!isBlock(block, 'server_tool_use') && !isBlock(block, 'mcp_tool_use')) return null;
  return isObject(block) && typeof block.id === 'string' ? block.id : null;
}

/** The id that a provider-run call's result (`web_search_tool_result`, `mcp_tool_result`, …) answers, or null. */
function serverResultFor(block: Json): string | null {
  if (!isObject(block) || typeof block.type !== 'string') return null;
  if (block.type === 'tool_result' || !block.type.endsWith('_tool_result')) return null;
  return typeof block.tool_use_id === 'string' ? block.tool_use_id : null;
}

/** True for blocks that may not be the last of an assistant message that a user message follows. */
export function isThinking(block: Json | undefined): boolean {
  return isBlock(block, 'thinking') || isBlock(block, 'redacted_thinking');
}

/** The id of the provider-run code that made this `tool_use`, or null for a call of the model itself. */
export function codeCallerId(block: Json): string | null {
  if (!isBlock(block, 'tool_use') || !isObject(block.caller) || block.caller.type === 'direct') return null;
  return typeof block.caller.tool_id === 'string' ? block.caller.tool_id : null;
}

/** True for a block that only a turn has which the provider can go on with when it is sent back. */
export function isProviders(block: Json): boolean {
  if (!isObject(block)) return false;
  return serverCallId(block) !== null || serverResultFor(block) !== null || block.type === 'compaction';
}

/**
 * The provider-run calls that are without a result after this content. Code that waits for a call counts as one, whether
 * its own block stands there or not.
 */
export function unfinishedAfter(before: readonly string[], content: readonly Json[]): readonly string[] {
  const open = new Set(before);
  for (const block of content) {
    const called = serverCallId(block) ?? codeCallerId(block);
    if (called !== null) open.add(called);
    const answered = serverResultFor(block);
    if (answered !== null) open.delete(answered);
  }
  return open.size === 0 ? [] : [...open];
}
