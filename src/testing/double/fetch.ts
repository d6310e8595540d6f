import { ConnectionClosed, type DoubleAnswer } from './exchange.ts';
import type { Handler } from './handler.ts';

/** The handler as a `fetch`, with the errors that undici throws where a connection breaks. */
export function fetchFrom(handler: Handler): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { pathname, searchParams } = new URL(request.url);
    request.signal.throwIfAborted();
    const answer = await handler({
      method: request.method,
      path: pathname,
      query: searchParams,
      headers: new Map(request.headers),
      body: await request.text(),
      signal: request.signal,
    });
    request.signal.throwIfAborted();
    return responseOf(answer, request.signal);
  };
}

function responseOf(answer: DoubleAnswer, signal: AbortSignal): Response {
  if (answer === 'closed') throw new TypeError('fetch failed', { cause: reset('other side closed') });
  const { status, headers, body } = answer;
  if (typeof body === 'string') return new Response(body, { status, headers });
  const events = body[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        signal.throwIfAborted();
        const { done, value } = await events.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (error) {
        controller.error(
          error instanceof ConnectionClosed ? new TypeError('terminated', { cause: reset(error.message) }) : error,
        );
      }
    },
    async cancel() {
      await events.return?.();
    },
  });
  return new Response(stream, { status, headers });
}

function reset(message: string): Error {
  return Object.assign(new Error(message), { code: 'ECONNRESET' });
}
