import type { ServerResponse } from 'node:http';

/** How long the headers of an answer may be withheld, in milliseconds: clients and proxies give up after a minute. */
const HEADERS_MS = 10_000;

/** Where the messages of a request go that come before its answer. */
export interface MessageSink {
  send(message: string): void;
  end(): void;
  /** Ends the connection alone, where the client can come back for the rest. */
  disconnect?(): void;
}

/**
 * The answer to one POST. It is a JSON body when the answer is all there is, and comes soon; and becomes a stream of events
 * with the first message that comes before it, or when it is late, so that something comes until it is there.
 */
export class PostReply {
  readonly #response: ServerResponse;
  readonly #begin: (() => MessageSink) | null;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timer: NodeJS.Timeout | undefined;
  #stream: MessageSink | undefined;

  /** @param begin makes the response a stream; null for a client that takes none */
  constructor(
    response: ServerResponse,
    begin: (() => MessageSink) | null,
    {
      headers = {},
      headersMs = HEADERS_MS,
    }: { readonly headers?: Record<string, string>; readonly headersMs?: number } = {},
  ) {
    this.#response = response;
    this.#begin = begin;
    this.#headers = headers;
    if (begin) this.#timer = setTimeout(() => void this.stream(), headersMs);
  }

  /** Makes it a stream now; undefined for a client that takes none. */
  stream(): MessageSink | undefined {
    clearTimeout(this.#timer);
    if (!this.#stream && this.#begin && !this.#response.headersSent) this.#stream = this.#begin();
    return this.#stream;
  }

  /**
   * A message before the answer.
   *
   * @returns false for a client that takes no stream, and so doesn't get it
   */
  send(message: string): boolean {
    const stream = this.stream();
    stream?.send(message);
    return stream !== undefined;
  }

  /** Ends the connection; what follows waits for the client to come back. */
  disconnect(): void {
    this.stream()?.disconnect?.();
  }

  /** @param status HTTP status, where the response isn't a stream already */
  finish(message: string, status = 200): void {
    clearTimeout(this.#timer);
    if (this.#stream) {
      this.#stream.send(message);
      this.#stream.end();
    } else sendJson(this.#response, status, message, this.#headers);
  }

  /** Ends it without an answer, as for a request that was cancelled. */
  drop(): void {
    clearTimeout(this.#timer);
    if (this.#stream) this.#stream.end();
    else if (!this.#response.headersSent) this.#response.writeHead(204, this.#headers).end();
  }
}

/** @param body JSON text */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}
