import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** Makes the reverse of each encoding. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', unzip],
  ['x-gzip', unzip],
  ['deflate', unzip],
  ['br', () => zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH })],
]);
/** More layers than this are nobody's honest answer. */
const MAX_LAYERS = 2;

/** What goes into `accept-encoding`. */
export const ACCEPTED_ENCODINGS = [...DECODERS.keys()].filter((name) => name !== 'x-gzip').join(', ');

/**
 * The body of an answer without its content encoding (RFC 9110, 8.4). It is unpacked as it is read, so that whoever
 * counts what comes out bounds what is held, however small it was packed. A stream is handed on as it comes.
 *
 * @returns null when the encoding is one that wasn't offered
 */
export function decodedBody(answer: IncomingMessage): Readable | null {
  const names = (answer.headers['content-encoding'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MAX_LAYERS) return null;
  let body: Readable = answer;
  for (const name of names.reverse()) {
    const decoder = DECODERS.get(name)?.();
    if (!decoder) return null;
    // Errors come out of the last stream, where somebody reads.
    body = pipeline(body, decoder, () => {});
  }
  return body;
}

function unzip(): Transform {
  return zlib.createUnzip({ flush: zlib.constants.Z_SYNC_FLUSH });
}
