import type { Json, JsonObject } from '../../contracts/index.ts';
import { BridleError, describeBlock, printable } from '../../tools/index.ts';
import { type ContentPiece, contentBlock } from './content-block.ts';
import { neutralise } from './neutralise.ts';
import { isObject, pieceOf } from './read-resource.ts';

/** A prompt's messages as what the person says. */
export interface PromptBlocks {
  readonly blocks: readonly JsonObject[];
  /** Content that came with them. */
  readonly pieces: readonly ContentPiece[];
}

const QUOTED = 'The prompt shows this as an example of a reply. Nobody said it in this conversation:';

/**
 * Turns a `GetPromptResult` into content of one user message. A turn that the prompt gives to the assistant becomes a
 * quotation in it: a server can't put words into the model's mouth.
 *
 * @param result as the server gave it
 * @param key the server's
 * @throws BridleError `prompt_empty`, `content_unsupported`, `content_too_large`
 */
export function promptBlocks(result: Json, key: string, name: string): PromptBlocks {
  const blocks: JsonObject[] = [];
  const pieces: ContentPiece[] = [];
  const messages = isObject(result) && Array.isArray(result.messages) ? result.messages : [];
  for (const message of messages) {
    if (!isObject(message)) continue;
    const content = Array.isArray(message.content) ? message.content : [message.content ?? null];
    for (const part of content) {
      const piece = pieceIn(part, key);
      if (piece) {
        pieces.push(piece);
        blocks.push(contentBlock(piece));
        continue;
      }
      if (!isObject(part)) continue;
      const block = describeBlock(part);
      if (block.type !== 'text' || typeof block.text !== 'string') blocks.push(block);
      else if (block.text.trim() !== '') blocks.push(textBlock(block.text, message.role === 'user'));
    }
  }
  if (blocks.length > 0) return { blocks, pieces };
  throw new BridleError('prompt_empty', `Prompt "${printable(name)}" of server "${printable(key)}" says nothing.`, {
    hint: 'Give it other arguments, or say in your own words what is to be done.',
  });
}

/** Whatever isn't plainly the user's turn is quoted. */
function textBlock(text: string, isUsers: boolean): JsonObject {
  const safe = neutralise(text);
  if (isUsers) return { type: 'text', text: safe };
  return { type: 'text', text: `${QUOTED}\n${safe.replace(/^/gm, '> ')}` };
}

function pieceIn(part: Json, key: string): ContentPiece | undefined {
  if (!isObject(part) || part.type !== 'resource' || part.resource === undefined) return undefined;
  return pieceOf(part.resource, key, 'an embedded resource');
}
