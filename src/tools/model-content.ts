import type { Json, JsonObject, RawJson } from '../contracts/index.ts';
import { canonicalJson } from './canonical.ts';
import { describeBlock } from './describe-block.ts';
import { isJsonObject, ownMember, stringMember } from './json-object.ts';
import { cutAt } from './printable.ts';

export interface ModelContentOptions {
  /**
   * Bound on all text together, in UTF-16 units; images and documents don't count. The notice of a cut counts, but is
   * never cut itself.
   */
  readonly maxChars: number;
  /** Keeps the whole text of a result that is cut and returns the handle under which `read_result` finds it. */
  readonly keep?: (full: string) => string;
  /** The result is an error: images and documents are described in text, since the API takes nothing else there. */
  readonly isError?: boolean;
  /** It is a member of the browser toolset: a `browser_state` block of it goes on as it is, since the API takes one. */
  readonly browserState?: boolean;
}

/** What a model is told when a tool answered without content: a success, in words. */
export const EMPTY_RESULT = 'The tool finished and returned no content.';

/**
 * The `content` of a Messages API `tool_result` for an MCP `CallToolResult`.
 *
 * Text stays text; images and PDFs that the API takes stay what they are; everything else is described in text, never
 * dropped. Structured content goes once, as JSON, with the text copy only where it differs. Never throws.
 *
 * Text that is cut is joined, one line break between blocks, and offsets count UTF-16 units of that whole.
 *
 * @returns a string when there is one text block, else Messages API content blocks
 */
export function modelContent(raw: RawJson, options: ModelContentOptions): Json {
  return bound(blocksOf(raw, options), options);
}

function blocksOf(raw: RawJson, options: ModelContentOptions): readonly JsonObject[] {
  try {
    return parsedBlocks(raw.parse(), options);
  } catch {
    // Not JSON, or nested too deeply to take apart: the text is what there is.
    return [textBlock(raw.text)];
  }
}

function parsedBlocks(
  result: Json,
  { isError = false, browserState = false }: ModelContentOptions,
): readonly JsonObject[] {
  if (!isJsonObject(result)) return [textBlock(JSON.stringify(result))];
  const content = ownMember(result, 'content');
  const data = ownMember(result, 'structuredContent');
  // Not a CallToolResult at all, such as an older server's `{toolResult: …}`: its JSON is what there is to say.
  if (content === undefined && data === undefined) {
    const { _meta: _, isError: __, resultType: ___, ...rest } = result;
    return Object.keys(rest).length === 0 ? [] : [textBlock(JSON.stringify(rest))];
  }
  const list = Array.isArray(content) ? content : content === undefined ? [] : [content];
  const state = browserState && !isError ? list.find(isBrowserState) : undefined;
  const described = (blocks: readonly Json[]) =>
    blocks.map((block) => (isBrowserState(block) && block === state ? block : describeBlock(block, isError)));
  if (data === undefined) return described(list);
  const copy = canonicalJson(data);
  return [textBlock(JSON.stringify(data)), ...described(list.filter((block) => !isCopy(block, copy)))];
}

function isBrowserState(block: Json): block is JsonObject {
  return isJsonObject(block) && block.type === 'browser_state' && Array.isArray(block.tabs);
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text };
}

/** True for a text block that says, in JSON, just what the structured content says. */
function isCopy(block: Json, canonical: string): boolean {
  if (!isJsonObject(block) || block.type !== 'text') return false;
  try {
    return canonicalJson(JSON.parse(stringMember(block, 'text') ?? '') as Json) === canonical;
  } catch {
    return false;
  }
}

function isText(block: JsonObject): block is JsonObject & { text: string } {
  return block.type === 'text' && typeof block.text === 'string';
}

/** Drops blank text blocks (the API refuses them) and keeps the text of all blocks together under the bound. */
function bound(blocks: readonly JsonObject[], { maxChars, keep }: ModelContentOptions): Json {
  const shown = blocks.filter((block) => !isText(block) || block.text.trim() !== '');
  const texts = shown.filter(isText).map((block) => block.text);
  if (texts.reduce((sum, text) => sum + text.length, 0) <= maxChars) {
    const [only = textBlock(EMPTY_RESULT)] = shown;
    return shown.length <= 1 && isText(only) ? only.text : [...shown];
  }
  const full = texts.join('\n');
  const handle = keep?.(full);
  const room = Math.max(0, maxChars - notice(full.length, full.length, handle).length - 1);
  const head = cutAt(full, room);
  const note = notice(head.length, full.length, handle);
  const cut = head === '' ? note : `${head}\n${note}`;
  const others = shown.filter((block) => !isText(block));
  return others.length === 0 ? cut : [textBlock(cut), ...others];
}

function notice(shown: number, total: number, handle: string | undefined): string {
  const rest =
    handle === undefined
      ? 'the rest was not kept: ask for less'
      : `read on with read_result ${JSON.stringify({ result: handle, offset: shown })}`;
  return `[cut: ${shown} of ${total} characters shown; ${rest}]`;
}
