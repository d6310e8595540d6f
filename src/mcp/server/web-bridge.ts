import type { IncomingMessage, ServerResponse } from 'node:http';

/** Header names in lower case; repeated ones joined as RFC 9110 (5.3) says. */
export function headersOf(request: IncomingMessage): Map<string, string> {
  const headers = new Map<string, string>();
  for (const [name, values] of Object.entries(request.headersDistinct)) {
    if (values !== undefined) headers.set(name, values.join(', '));
  }
  return headers;
}

/**
 * @param limit bytes
 * @returns the body as text, or null when it is longer than the limit (the rest is not read)
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<string | null> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return null;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > limit) return null;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A web `Request` without its body, which is passed beside it already parsed. */
export function toWebRequest(
  request: IncomingMessage,
  headers: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Request {
  return new Request(`http://localhost${request.url ?? '/'}`, {
    method: request.method ?? 'GET',
    headers: [...headers],
    signal,
  });
}

/** Writes a web `Response`, streaming, and stops reading it when the client has gone. */
export async function sendWebResponse(response: Response, to: ServerResponse, gone: AbortSignal): Promise<void> {
  to.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    to.end();
    return;
  }
  // A stream's first event may be minutes away, and the client waits for the headers.
  to.flushHeaders();
  const reader = response.body.getReader();
  const stop = () => void reader.cancel().catch(() => undefined);
  gone.addEventListener('abort', stop, { once: true });
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      if (gone.aborted) break;
      if (!to.write(part.value)) await drained(to, gone);
    }
  } finally {
    gone.removeEventListener('abort', stop);
    to.end();
  }
}

function drained(to: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      to.off('drain', done);
      gone.removeEventListener('abort', done);
      resolve();
    };
    to.once('drain', done);
    gone.addEventListener('abort', done, { once: true });
    if (gone.aborted) done();
  });
}

/** A JSON-RPC error (or, without `rpc`, plain text) outside any exchange. */
export function sendError(
  to: ServerResponse,
  status: number,
  message: string,
  options: { readonly rpc?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): void {
  const body =
    options.rpc === undefined
      ? `${message}\n`
      : JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: options.rpc, message } });
  const type = options.rpc === undefined ? 'text/plain; charset=utf-8' : 'application/json';
  to.writeHead(status, { 'content-type': type, ...options.headers });
  to.end(body);
}
