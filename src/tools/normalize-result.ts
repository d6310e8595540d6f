import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject, toJson } from './json-object.ts';
import { builtKind } from './result-builders.ts';

/** Members of an MCP `CallToolResult`; an object with any other member is data. */
const RESULT_MEMBERS: ReadonlySet<string> = new Set(['_meta', 'content', 'isError', 'resultType', 'structuredContent']);

function isBlock(value: Json): boolean {
  return isJsonObject(value) && typeof value.type === 'string';
}

/** A whole `CallToolResult`: only its members, and a `content` list of typed blocks. */
function isResult(value: JsonObject): boolean {
  return (
    Object.keys(value).every((key) => RESULT_MEMBERS.has(key)) &&
    Array.isArray(value.content) &&
    value.content.every(isBlock) &&
    (value.isError === undefined || typeof value.isError === 'boolean')
  );
}

/**
 * What a handler returned, as an MCP `CallToolResult` object: nothing → no content; a string → one text block; blocks
 * of the builders → content; a whole result → as it is; any other value → structured content with its JSON as text.
 *
 * @throws TypeError when the value has no JSON form
 */
export function normalizeResult(returned: unknown): JsonObject {
  if (returned === undefined) return { content: [] };
  if (typeof returned === 'string') return { content: [{ type: 'text', text: returned }] };
  const built = builtKind(returned);
  const isBlocks = Array.isArray(returned) && returned.length > 0 && returned.every((b) => builtKind(b) === 'block');
  const json = toJson(returned);
  if (built === 'block') return { content: [json] };
  if (isBlocks) return { content: json };
  if (isJsonObject(json) && (built === 'result' || isResult(json))) return json;
  if (json === null) return { content: [{ type: 'text', text: 'null' }] };
  return { content: [{ type: 'text', text: JSON.stringify(json) }], structuredContent: json };
}
