import type { Json, JsonObject } from '../../contracts/index.ts';
import { arrayOf, blocksIn, isObject, type Placed } from '../rules/shape.ts';

/**
 * How far an estimate may be off, as a share of the real count, for English text and JSON of more than 100 tokens. It is
 * assumed: the tokenizers aren't published, newer models count up to a third more than older ones, and only two counts that
 * the documentation gives were compared. `npm run double:verify` measures it against the real API when a key is set.
 */
export const ESTIMATE_ERROR = 0.35;

/** Bytes of UTF-8 that make a token, roughly: prose has longer ones than JSON. */
const BYTES_PER_TOKEN = 3.6;
/** What the API adds for tools: 290 to 590 tokens, by model and by choice. */
const TOOL_PROMPT = { free: 340, forced: 460 };
const PER_MESSAGE = 4;
const PER_IMAGE = 1500;
const PER_DOCUMENT = 2000;

/**
 * The tokens of a request, estimated: bytes for texts and definitions, a flat figure for each image and document, and
 * what the API adds when there are tools. Deferred tools count once a search result or an addition refers to them.
 */
export function estimateTokens(body: JsonObject): number {
  const loaded = new Set(blocksIn(body, 'tool_result', 'tool_search_tool_result', 'tool_addition').flatMap(namedBy));
  const tools = arrayOf(body.tools).filter(
    (tool) => !(isObject(tool) && tool.defer_loading === true && !loaded.has(tool.name)),
  );
  const choice = isObject(body.tool_choice) ? body.tool_choice.type : undefined;
  const forced = choice === 'any' || choice === 'tool';
  const bare = arrayOf(body.tools).length === 0;
  return Math.max(
    1,
    weightOf(body.system) +
      tools.reduce<number>((sum, tool) => sum + bytes(JSON.stringify(tool)), 0) +
      (bare ? 0 : forced ? TOOL_PROMPT.forced : TOOL_PROMPT.free) +
      arrayOf(body.messages).reduce<number>(
        (sum, message) => sum + PER_MESSAGE + (isObject(message) ? weightOf(message.content) : 0),
        0,
      ),
  );
}

function namedBy({ block: { tool, content } }: Placed): readonly (Json | undefined)[] {
  if (isObject(tool)) return [tool.name];
  const parts = isObject(content) ? content.tool_references : content;
  return arrayOf(parts).flatMap((part) => (isObject(part) ? [part.tool_name] : []));
}

/** The tokens of content: a string, or blocks. */
export function weightOf(content: Json | undefined): number {
  if (typeof content === 'string') return bytes(content);
  return arrayOf(content).reduce<number>((sum, block) => sum + (isObject(block) ? weightOfBlock(block) : 0), 0);
}

function weightOfBlock(block: JsonObject): number {
  switch (block.type) {
    case 'text':
      return bytes(String(block.text ?? ''));
    case 'thinking':
      return bytes(String(block.thinking ?? ''));
    case 'image':
      return PER_IMAGE;
    case 'document':
      return isObject(block.source) && block.source.type === 'text'
        ? bytes(String(block.source.data ?? ''))
        : PER_DOCUMENT;
    case 'tool_result':
      return PER_MESSAGE + weightOf(block.content);
    default:
      return bytes(JSON.stringify(block));
  }
}

function bytes(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}
