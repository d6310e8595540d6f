import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** The body as text, or why there is none: longer than the limit, compressed, not UTF-8, or given up by the client. */
export type Body = { readonly text: string } | { readonly problem: 'too_long' | 'encoded' | 'not_utf8' | 'gone' };

/**
 * @param limit bytes; what is beyond isn't read
 * @param take gets it once
 */
export function readBody(request: IncomingMessage, limit: number, take: (body: Body) => void): void {
  const { headers } = request;
  if (Number(headers['content-length'] ?? 0) > limit) {
    take({ problem: 'too_long' });
    return;
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    take({ problem: 'encoded' });
    return;
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let length = 0;
  let isTaken = false;
  const finish = (body: Body) => {
    if (isTaken) return;
    isTaken = true;
    take(body);
  };
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > limit) {
      request.pause();
      finish({ problem: 'too_long' });
    } else if (first === undefined) first = chunk;
    else if (more === undefined) more = [first, chunk];
    else more.push(chunk);
  });
  // Both come once, and `on` has nothing to take away again.
  request.on('end', () => {
    const bytes = more ? Buffer.concat(more, length) : first;
    if (bytes === undefined) finish({ text: '' });
    else finish(isUtf8(bytes) ? { text: bytes.toString('utf8') } : { problem: 'not_utf8' });
  });
  request.on('close', () => finish({ problem: 'gone' }));
}
