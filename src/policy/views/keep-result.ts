import type { Json, NarrowedResult, RawJson } from '../../contracts/index.ts';
import { isJsonObject, rawFrom } from '../../tools/index.ts';
import { keepTree, keptOf } from './pointers.ts';
import type { View } from './view.ts';

/**
 * What a view leaves of an MCP `CallToolResult`: the fields it keeps, of the structured content or of the one text that
 * is JSON. Everything else (other blocks, links, metadata, the words of an error) is removed. A result that isn't data,
 * or has none of the fields, is refused.
 */
export function keepResult({ keep }: Pick<View, 'keep'>, raw: RawJson, isError: boolean): NarrowedResult {
  if (!keep) return { raw };
  if (isError) {
    const text = 'The tool answered with an error. Its words are not shown, as only some of its results are.';
    return { raw: rawFrom({ content: [{ type: 'text', text }], isError: true }) };
  }
  const data = dataOf(raw);
  if (!data) return { refused: 'it is no JSON data' };
  const kept = keptOf(data.value, keepTree(keep));
  if (kept === undefined) return { refused: `it has none of ${keep.join(', ')}` };
  const content = [{ type: 'text', text: JSON.stringify(kept) }];
  return { raw: rawFrom({ content, ...(data.isStructured && isJsonObject(kept) && { structuredContent: kept }) }) };
}

function dataOf(raw: RawJson): { readonly value: Json; readonly isStructured: boolean } | undefined {
  try {
    const result = raw.parse();
    if (!isJsonObject(result)) return undefined;
    if (result.structuredContent !== undefined) return { value: result.structuredContent, isStructured: true };
    const [block, ...more] = Array.isArray(result.content) ? result.content : [];
    if (more.length > 0 || !isJsonObject(block) || block.type !== 'text' || typeof block.text !== 'string') {
      return undefined;
    }
    return { value: JSON.parse(block.text) as Json, isStructured: false };
  } catch {
    return undefined;
  }
}
