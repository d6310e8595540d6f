import type { ServerResponse } from 'node:http';

/** How often a stream that has nothing to say shows that it is there, in milliseconds. */
const BEAT_MS = 15_000;
/** What may wait for a client before more is said, in bytes: one message may be longer; and for how many beats anything may wait at all. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
const MAX_STUCK_BEATS = 4;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Proxies such as nginx would gather events otherwise (MCP 2026-07-28, Streamable HTTP, "Receiving Messages").
  'x-accel-buffering': 'no',
};

/** The open streams of one server: all beat together, since ten thousand timers would cost more than the streams. */
export class EventStreams {
  readonly #open = new Set<EventStream>();
  readonly #max: number;
  readonly #timer: NodeJS.Timeout;

  /** @param max most streams at once */
  constructor(max: number) {
    this.#max = max;
    this.#timer = setInterval(() => {
      for (const stream of this.#open) stream.beat();
    }, BEAT_MS);
    this.#timer.unref();
  }

  get isFull(): boolean {
    return this.#open.size >= this.#max;
  }

  /** Begins a response as a stream; its headers are sent at once. */
  begin(response: ServerResponse, headers: Readonly<Record<string, string>> = {}): EventStream {
    response.writeHead(200, { ...HEADERS, ...headers });
    response.flushHeaders();
    const stream = new EventStream(response);
    // One whose client has gone already is never closed again.
    if (stream.isOpen) {
      this.#open.add(stream);
      response.once('close', () => this.#open.delete(stream));
    }
    return stream;
  }

  close(): void {
    clearInterval(this.#timer);
    for (const stream of this.#open) stream.end();
    this.#open.clear();
  }
}

/** Server-sent events of one response (WHATWG HTML, Server-sent events). */
export class EventStream {
  readonly #response: ServerResponse;
  #isQuiet = true;
  #stuckBeats = 0;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener);
  }

  /** @param data one line */
  send(data: string, id?: string): void {
    this.#write(
      id === undefined ? `event: message\ndata: ${data}\n\n` : `event: message\nid: ${id}\ndata: ${data}\n\n`,
    );
  }

  /** Names the place that a client may come back to, before there is anything to say (MCP 2025-11-25, Streamable HTTP). */
  prime(id: string, retryMs: number): void {
    this.#write(`id: ${id}\nretry: ${retryMs}\ndata: \n\n`);
  }

  /** Something for whoever watches the connection, and the chance to find that nobody is there. */
  beat(): void {
    // What is written to a peer that has vanished stays here until the system gives it up.
    this.#stuckBeats = this.#response.writableLength > 0 ? this.#stuckBeats + 1 : 0;
    if (this.#stuckBeats >= MAX_STUCK_BEATS) this.#response.destroy();
    else if (this.#isQuiet) this.#write(': \n\n');
    this.#isQuiet = true;
  }

  end(): void {
    if (this.isOpen) this.#response.end();
  }

  #write(text: string): void {
    if (!this.isOpen) return;
    this.#isQuiet = false;
    if (this.#response.writableLength > MAX_UNREAD_BYTES) this.#response.destroy();
    else this.#response.write(text);
  }
}
