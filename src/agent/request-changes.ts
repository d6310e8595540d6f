import type { Json, JsonObject } from '../contracts/index.ts';
import { contentBlocks, isObject, isStringList } from './blocks.ts';
import type { RequestPart } from './request.ts';
import { changedTool, isChange, TOOL_CHANGES_BETA } from './tool-changes.ts';

/**
 * Changes of tools that the messages tell of, with the beta for them. Of a tool that isn't there any more nothing can be
 * told, and nothing at all to a model that takes none.
 */
export const changesPart: RequestPart = ({ config }, body) => {
  const messages = Array.isArray(body.messages) ? body.messages : [];
  if (!messages.some(tellsOfTools)) return body;
  const tools = Array.isArray(body.tools) ? body.tools : [];
  const names = new Set<Json>(tools.flatMap((tool) => (isObject(tool) ? [tool.name ?? null] : [])));
  const isKept = (block: Json) => {
    if (!isChange(block)) return true;
    const name = changedTool(block);
    return config.toolChanges === true && (name === null || names.has(name));
  };
  const kept = messages.flatMap((message): Json[] => {
    if (!tellsOfTools(message)) return [message];
    const content = contentBlocks(message.content);
    const left = content.filter(isKept);
    if (left.length === content.length) return [message];
    return left.length === 0 ? [] : [{ ...message, content: [...left] }];
  });
  const betas = isStringList(body.betas) ? body.betas : [];
  return {
    ...body,
    messages: kept,
    ...(kept.some(tellsOfTools) && !betas.includes(TOOL_CHANGES_BETA) && { betas: [...betas, TOOL_CHANGES_BETA] }),
  };
};

function tellsOfTools(message: Json): message is JsonObject {
  return isObject(message) && message.role === 'system' && contentBlocks(message.content).some(isChange);
}
