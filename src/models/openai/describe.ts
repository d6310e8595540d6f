import type { Json, JsonObject } from '../../contracts/index.ts';
import { arrayOf, isObject, stringOf } from '../json-shape.ts';

const LONGEST_UNKNOWN = 4_000;

/**
 * A content block in words, for an endpoint that takes only text and images. Nothing is dropped in silence: what can't
 * be shown is named, with its kind and size.
 */
export function describeBlock(block: Json): string {
  if (!isObject(block)) return JSON.stringify(block);
  switch (block.type) {
    case 'text':
      return stringOf(block.text);
    case 'image':
      return `[image, ${sourceInWords(block.source)}]`;
    case 'document':
      return describeDocument(block);
    case 'search_result':
      return [
        `[search result "${stringOf(block.title)}" from ${stringOf(block.source)}]`,
        ...arrayOf(block.content).map(describeBlock),
      ].join('\n');
    case 'tool_reference':
      return `[tool ${stringOf(block.tool_name)}]`;
    default: {
      const text = JSON.stringify(block);
      const shown = text.length > LONGEST_UNKNOWN ? `${text.slice(0, LONGEST_UNKNOWN)}…` : text;
      return `[${stringOf(block.type) || 'untyped'} block: ${shown}]`;
    }
  }
}

/** The image as the URL that chat completions take, or `undefined` where there is none (a file id, say). */
export function imageUrl(block: JsonObject): string | undefined {
  const { source } = block;
  if (!isObject(source)) return undefined;
  if (source.type === 'url') return stringOf(source.url) || undefined;
  if (source.type !== 'base64') return undefined;
  return `data:${stringOf(source.media_type)};base64,${stringOf(source.data)}`;
}

function describeDocument(block: JsonObject): string {
  const title = stringOf(block.title);
  const name = title === '' ? 'document' : `document "${title}"`;
  const context = stringOf(block.context);
  const about = context === '' ? '' : `\n${context}`;
  const { source } = block;
  if (!isObject(source)) return `[${name}]${about}`;
  if (source.type === 'text') return enclosed(name, about, [stringOf(source.data)]);
  if (source.type === 'content') {
    const content = typeof source.content === 'string' ? [source.content] : arrayOf(source.content).map(describeBlock);
    return enclosed(name, about, content);
  }
  return `[${name}, ${sourceInWords(source)}; this endpoint takes no such documents, so its content is not shown]${about}`;
}

/** Where blocks are all one text, a document's end is said, so that what follows isn't taken for a part of it. */
function enclosed(name: string, about: string, content: readonly string[]): string {
  const end = `[end of ${name}]`;
  // The document itself can't say that it ends.
  const inside = content.map((text) => text.replace(/\[(?=\s*end\s+of\s+document)/gi, '&#91;'));
  return [`[${name}]${about}`, ...inside, end].join('\n');
}

function sourceInWords(source: Json | undefined): string {
  if (!isObject(source)) return 'no source';
  if (source.type === 'url') return stringOf(source.url);
  if (source.type === 'file') return `file ${stringOf(source.file_id)}`;
  const bytes = Math.floor((stringOf(source.data).length * 3) / 4);
  return `${stringOf(source.media_type) || 'unknown type'}, ${bytes} bytes`;
}
