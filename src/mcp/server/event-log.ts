import type { EventStream } from './event-stream.ts';
import type { MessageSink } from './post-reply.ts';

/** What is kept of one stream for a client that comes back, in messages and in characters. */
const MAX_MESSAGES = 256;
const MAX_CHARACTERS = 1024 * 1024;
/** When a client whose stream ended may come back, in milliseconds. */
const RETRY_MS = 1_000;

/**
 * One stream of a session as its client sees it, over as many connections as it takes (MCP 2025-11-25, Streamable HTTP,
 * "Resumability and Redelivery"): each message has an id, and the last ones are kept.
 */
export class EventLog implements MessageSink {
  readonly name: string;
  readonly #primes: boolean;
  #messages: { readonly number: number; readonly message: string }[] | undefined;
  #characters = 0;
  #last = 0;
  /** Number of the last message that somebody was there for. */
  #told = 0;
  /** The connections, of which the newest is told (each message goes to one alone) until it is gone. */
  #attached: EventStream[] = [];
  #ended = false;
  #isDelivered = false;

  /** @param name without a colon; ids are `name:number` */
  constructor(name: string, options: { readonly primes: boolean }) {
    this.name = name;
    this.#primes = options.primes;
  }

  /** Everything is said, and was sent to somebody. */
  get isDone(): boolean {
    return this.#isDelivered;
  }

  get isAttached(): boolean {
    return this.#stream !== undefined;
  }

  /**
   * Sends from here on to this connection.
   *
   * @param after number of the message after which it is told what came before; default: what nobody was told
   */
  attach(stream: EventStream, after: number = this.#told): void {
    this.#attached.push(stream);
    stream.onClose(() => {
      this.#attached = this.#attached.filter((one) => one !== stream);
    });
    if (this.#primes) stream.prime(`${this.name}:${after}`, RETRY_MS);
    for (const { number, message } of this.#messages ?? []) {
      if (number > after) stream.send(message, `${this.name}:${number}`);
    }
    if (stream.isOpen) this.#told = this.#last;
    if (this.#ended) this.end();
  }

  send(message: string): void {
    this.#last += 1;
    this.#messages ??= [];
    this.#messages.push({ number: this.#last, message });
    this.#characters += message.length;
    while (this.#messages.length > MAX_MESSAGES || (this.#characters > MAX_CHARACTERS && this.#messages.length > 1)) {
      this.#characters -= this.#messages.shift()?.message.length ?? 0;
    }
    const stream = this.#stream;
    if (!stream) return;
    stream.send(message, `${this.name}:${this.#last}`);
    this.#told = this.#last;
  }

  /** Ends the connections only; the client is to come back for the rest. */
  disconnect(): void {
    for (const stream of this.#attached) stream.end();
    this.#attached = [];
  }

  end(): void {
    this.#ended = true;
    if (!this.isAttached) return;
    this.#isDelivered = true;
    this.disconnect();
  }

  get #stream(): EventStream | undefined {
    return this.#attached.findLast((stream) => stream.isOpen);
  }
}

/** The stream's name and message number in an event id of ours. */
export function readEventId(id: string): { readonly name: string; readonly number: number } | null {
  const [, name, number] = /^([\w-]{1,64}):(\d{1,15})$/.exec(id) ?? [];
  return name === undefined ? null : { name, number: Number(number) };
}
