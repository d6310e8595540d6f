/** How long the headers of an answer may be withheld, in milliseconds: clients and proxies give up after a minute. */
const HEADERS_MS = 10_000;
/** How often a stream that has nothing to say shows that it is there, in milliseconds. */
const KEEP_ALIVE_MS = 15_000;

/**
 * An answer that takes long becomes a stream (MCP, Streamable HTTP: a request may be answered by either), so that its
 * headers are there in time and something comes until it is. One that comes soon stays as it is, with its status.
 *
 * @param answer to a request whose client accepts `text/event-stream`
 * @param headersMs milliseconds
 */
export async function streamWhenLate(answer: Promise<Response>, headersMs = HEADERS_MS): Promise<Response> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, headersMs, null);
  });
  const inTime = await Promise.race([answer, late]).finally(() => clearTimeout(timer));
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
  return inTime ?? new Response(eventsOf(answer).pipeThrough(new TextEncoderStream()), { headers });
}

function eventsOf(answer: Promise<Response>): ReadableStream<string> {
  let keepAlive: NodeJS.Timeout | undefined;
  return new ReadableStream<string>({
    async start(controller) {
      const comment = () => controller.enqueue(': waiting\n\n');
      comment();
      keepAlive = setInterval(comment, KEEP_ALIVE_MS);
      try {
        const response = await answer.finally(() => clearInterval(keepAlive));
        if (response.headers.get('content-type')?.startsWith('text/event-stream')) await copy(response, controller);
        else controller.enqueue(`event: message\ndata: ${await response.text()}\n\n`);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
    },
    cancel() {
      clearInterval(keepAlive);
    },
  });
}

async function copy(response: Response, controller: ReadableStreamDefaultController<string>): Promise<void> {
  const parts = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await parts?.read(); part && !part.done; part = await parts?.read()) controller.enqueue(part.value);
}
