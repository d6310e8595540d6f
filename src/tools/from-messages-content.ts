import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject, stringMember, toJson } from './json-object.ts';

/**
 * What an Anthropic SDK tool returns (a string, or Messages API content blocks) as an MCP `CallToolResult`. Blocks
 * without an MCP form are kept whole as text.
 */
export function fromMessagesContent(content: unknown, isError: boolean): JsonObject {
  const json = content === undefined ? [] : toJson(content);
  const list = Array.isArray(json) ? json : [json];
  return { content: list.map(block), ...(isError && { isError: true }) };
}

function block(value: Json): JsonObject {
  if (typeof value === 'string') return { type: 'text', text: value };
  if (!isJsonObject(value)) return { type: 'text', text: JSON.stringify(value) };
  const text = stringMember(value, 'text');
  if (value.type === 'text' && text !== undefined) return { type: 'text', text };
  const source = value.source;
  if (isJsonObject(source) && source.type === 'base64') {
    const data = stringMember(source, 'data');
    const mimeType = stringMember(source, 'media_type');
    if (data !== undefined && mimeType !== undefined) {
      if (value.type === 'image') return { type: 'image', data, mimeType };
      const uri = `attachment:${stringMember(value, 'title') ?? 'document'}`;
      if (value.type === 'document') return { type: 'resource', resource: { uri, mimeType, blob: data } };
    }
  }
  if (value.type === 'document' && isJsonObject(source) && source.type === 'text') {
    return { type: 'text', text: stringMember(source, 'data') ?? '' };
  }
  return { type: 'text', text: JSON.stringify(value) };
}
