import type { Json, JsonObject } from '../contracts/index.ts';
import { contentBlocks, isBlock, isObject } from './blocks.ts';
import { GONE } from './found-tools.ts';
import type { RequestPart } from './request.ts';

/**
 * References to tools, as this very request can hold them: the API refuses one to a tool that isn't there, and one is to
 * name a deferred tool. A model that takes none is told the names, and finds the definitions among its tools.
 */
export const referencesPart: RequestPart = ({ config }, body) => {
  const messages = Array.isArray(body.messages) ? body.messages : [];
  if (!messages.some(hasReferences)) return body;
  const tools = Array.isArray(body.tools) ? body.tools : [];
  const there = new Map<Json, boolean>(
    tools.flatMap((tool) => (isObject(tool) ? [[tool.name ?? null, tool.defer_loading === true] as const] : [])),
  );
  const inWords = config.search?.references === false;
  const changed = messages.map((message) => {
    if (!isObject(message) || !hasReferences(message)) return message;
    const content = contentBlocks(message.content);
    const now = content.map((block) => (inWords ? worded(block) : kept(block, there)));
    return now.every((block, at) => block === content[at]) ? message : { ...message, content: now };
  });
  return { ...body, messages: changed };
};

function hasReferences(message: Json): boolean {
  return isObject(message) && Array.isArray(message.content) && message.content.some(isFinding);
}

function isFinding(block: Json): block is JsonObject {
  if (!isObject(block)) return false;
  if (block.type === 'tool_search_tool_result') return true;
  return block.type === 'tool_result' && Array.isArray(block.content) && block.content.some(isReference);
}

function isReference(block: Json): boolean {
  return isBlock(block, 'tool_reference');
}

/** The same words whatever tools there are now: what the model has cached of them stays cached. */
function worded(block: Json): Json {
  if (!isFinding(block) || !isBlock(block, 'tool_result')) return block;
  const names = contentBlocks(block.content).flatMap((part) =>
    isBlock(part, 'tool_reference') && isObject(part) ? [String(part.tool_name)] : [],
  );
  return { ...block, content: `Found, and among your tools from here on: ${names.join(', ')}.` };
}

/** @param there the tools of the request by name: whether they are deferred */
function kept(block: Json, there: ReadonlyMap<Json, boolean>): Json {
  if (!isFinding(block)) return block;
  const { type, content } = block;
  const nameIn = (part: Json) => (isObject(part) ? (part.tool_name ?? null) : null);
  const isDeferred = (part: Json) => there.get(nameIn(part)) === true;
  if (type === 'tool_result') {
    const parts = contentBlocks(content);
    const left = parts.filter((part) => !isReference(part) || isDeferred(part));
    if (left.length === parts.length) return block;
    if (left.length > 0) return { ...block, content: [...left] };
    return parts.some((part) => there.has(nameIn(part))) ? worded(block) : { ...block, content: GONE };
  }
  const references = isObject(content) && Array.isArray(content.tool_references) ? content.tool_references : [];
  const left = references.filter(isDeferred);
  if (!isObject(content) || left.length === references.length) return block;
  return { ...block, content: { ...content, tool_references: left } };
}
