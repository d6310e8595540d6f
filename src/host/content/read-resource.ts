import type { FoundResource } from '../../catalog/index.ts';
import type { Json, JsonObject, SourceResult } from '../../contracts/index.ts';
import { BridleError, printable } from '../../tools/index.ts';
import { answered } from './answered.ts';
import type { ContentPiece } from './content-block.ts';
import { type ContentCaller, keyOf, resourceLabel } from './content-places.ts';

/** Parts of one resource that are taken. */
const MOST_PARTS = 50;

/**
 * Reads a resource.
 *
 * @returns its parts; mostly there is one
 * @throws BridleError `content_not_read`
 */
export async function readResource(resource: FoundResource, caller: ContentCaller): Promise<readonly ContentPiece[]> {
  const { source, uri } = resource;
  const label = resourceLabel(resource);
  const asked = answered(source.server, { part: 'resource', tool: uri }, caller, (ctx) => source.read(uri, ctx));
  const result = resultOf(await asked, label);
  const contents = isObject(result) && Array.isArray(result.contents) ? result.contents : [];
  const pieces = contents.slice(0, MOST_PARTS).flatMap((part) => pieceOf(part, keyOf(source), uri) ?? []);
  if (pieces.length > 0) return pieces;
  throw new BridleError('content_not_read', `${printable(label)} has no content.`, {
    hint: 'Its server lists it and gives nothing for it. Nothing was sent.',
  });
}

/** A `TextResourceContents` or `BlobResourceContents` (MCP, Resources). */
export function pieceOf(part: Json, key: string, asked: string): ContentPiece | undefined {
  if (!isObject(part)) return undefined;
  const uri = typeof part.uri === 'string' && part.uri !== '' ? part.uri : asked;
  const known = {
    label: `${key}: ${uri}`,
    server: key,
    uri,
    ...(typeof part.mimeType === 'string' && { mimeType: part.mimeType }),
  };
  if (typeof part.text === 'string') return { ...known, text: part.text };
  return typeof part.blob === 'string' ? { ...known, blob: part.blob } : undefined;
}

/**
 * What a server answered to a person's request.
 *
 * @throws BridleError `content_not_read` with the server's words when it gave nothing
 */
export function resultOf(answer: SourceResult, label: string): Json {
  const hint = 'Nothing was sent.';
  const name = printable(label, { maxLength: 300 });
  switch (answer.kind) {
    case 'result':
      try {
        return answer.raw.parse();
      } catch {
        throw new BridleError('content_not_read', `${name} can't be read: the answer is no JSON.`, { hint });
      }
    case 'failure': {
      const why = printable(answer.failure.message, { maxLength: 1_000 });
      throw new BridleError('content_not_read', `${name} can't be read: ${why}`, { hint });
    }
    case 'input_required':
      throw new BridleError('content_not_read', `${name} can't be read: its server asks for more first.`, { hint });
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
