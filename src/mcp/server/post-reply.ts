import type { ServerResponse } from 'node:http';
import { KeptText } from './kept-text.ts';
import { endSoon } from './response-ends.ts';
import { answerMessage, type Id, type RpcError, resultAround } from './rpc.ts';

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
 * The replies whose headers are withheld, in the order in which they began, and so that in which they are late. One timer
 * looks after all: nearly every reply ends long before, and a timer of its own would cost more than the rest of it.
 */
class Withheld {
  readonly #since = new Map<PostReply, number>();
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;

  /** @param ms how long they may be withheld */
  constructor(ms: number) {
    this.#ms = ms;
  }

  add(reply: PostReply): void {
    this.#since.set(reply, performance.now());
    this.#timer ??= this.#wait(this.#ms);
  }

  delete(reply: PostReply): void {
    this.#since.delete(reply);
  }

  #wait(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    this.#timer = undefined;
    for (const [reply, since] of this.#since) {
      const left = since + this.#ms - performance.now();
      if (left > 0) {
        this.#timer = this.#wait(Math.ceil(left));
        return;
      }
      // Takes itself out.
      reply.stream();
    }
  }
}

const WITHHELD = new Withheld(HEADERS_MS);

/**
 * The answer to one POST. It is a JSON body when the answer is all there is, and comes soon; and becomes a stream of events
 * with the first message that comes before it, or when it is late, so that something comes until it is there.
 */
export class PostReply {
  readonly #response: ServerResponse;
  readonly #begin: (() => MessageSink) | null;
  #stream: MessageSink | undefined;

  /** @param begin makes the response a stream; null for a client that takes none */
  constructor(response: ServerResponse, begin: (() => MessageSink) | null) {
    this.#response = response;
    this.#begin = begin;
    if (begin) WITHHELD.add(this);
  }

  /** Makes it a stream now; undefined for a client that takes none. */
  stream(): MessageSink | undefined {
    WITHHELD.delete(this);
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
  answer(id: Id, result: string | KeptText | RpcError, status = 200): void {
    WITHHELD.delete(this);
    if (this.#stream) {
      this.#stream.send(answerMessage(id, result));
      this.#stream.end();
    } else if (result instanceof KeptText) sendKept(this.#response, id, result);
    else sendJson(this.#response, status, answerMessage(id, result));
  }

  /** Ends it without an answer, as for a request that was cancelled. */
  drop(): void {
    WITHHELD.delete(this);
    if (this.#stream) this.#stream.end();
    else if (!this.#response.headersSent) this.#response.writeHead(204).end();
  }
}

/** The same as `sendJson` with the message of this result, whose bytes go out as they are. */
function sendKept(response: ServerResponse, id: Id, { bytes }: KeptText): void {
  const [before, after] = resultAround(id);
  const length = Buffer.byteLength(before) + bytes.length + Buffer.byteLength(after);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
  response.write(before);
  response.write(bytes);
  response.end(after);
}

/** @param body JSON text */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers?: Readonly<Record<string, string>>,
): void {
  const always = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, headers ? { ...always, ...headers } : always);
  endSoon(response, body);
}
