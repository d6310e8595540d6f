import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Identity } from '../../contracts/index.ts';
import { EventLog, readEventId } from './event-log.ts';
import type { EventStreams } from './event-stream.ts';
import { LegacySession } from './legacy-session.ts';
import { PostReply } from './post-reply.ts';
import { answerMessage, type Incoming } from './rpc.ts';
import type { Served } from './served.ts';
import type { SessionFacts } from './session-id.ts';

type Request = Extract<Incoming, { kind: 'request' }>;
type Told = Extract<Incoming, { kind: 'notification' | 'response' }>;

/** Streams of answers that are kept for a client that lost its connection; the oldest gives way. */
const MAX_KEPT = 32;
/** How the name of the stream ends that belongs to no request. */
const PUSHED = '-push';
/** From here on clients take an event without data (MCP 2025-11-25, Streamable HTTP, "Sending Messages to the Server"). */
const PRIMED_SINCE = '2025-11-25';

/** One session over HTTP: what it says goes over as many connections as its client opens. */
export class HttpSession {
  readonly conversation: string;
  readonly caller: string;
  readonly revision: string;
  readonly #session: LegacySession;
  readonly #streams: EventStreams;
  readonly #primes: boolean;
  /** What is said to no request; no more than its last messages are held while nobody listens. */
  readonly #pushed: EventLog;
  readonly #kept = new Map<string, EventLog>();
  /** Another process that goes on with this session has streams of its own, and numbers them as we do. */
  readonly #life = randomBytes(6).toString('base64url');
  #responses = 0;
  #nextStream = 0;
  #lastUsed = Date.now();

  constructor(served: Served, streams: EventStreams, { who, ...facts }: SessionFacts & { readonly who: Identity }) {
    const { conversation, caller, revision, capabilities } = facts;
    this.conversation = conversation;
    this.caller = caller;
    this.revision = revision;
    this.#streams = streams;
    this.#primes = revision >= PRIMED_SINCE;
    this.#pushed = new EventLog(`${this.#life}${PUSHED}`, { primes: this.#primes });
    const agreed = { revision, capabilities };
    this.#session = new LegacySession(served, { who, conversation, agreed }, (message) => this.#pushed.send(message));
  }

  /** Something goes on, or is listened to. */
  get isBusy(): boolean {
    return this.#responses > 0 || this.#session.isBusy || this.#pushed.isAttached;
  }

  /** Since it was used last, in milliseconds. */
  get idleMs(): number {
    return Date.now() - this.#lastUsed;
  }

  touch(): void {
    this.#lastUsed = Date.now();
  }

  /** The answer to a POST of this session. Its stream, if it becomes one, can be gone on with on another connection. */
  reply(response: ServerResponse, takesStream: boolean): PostReply {
    this.#responses += 1;
    response.once('close', () => {
      this.#responses -= 1;
      this.touch();
    });
    if (!takesStream || this.#streams.isFull) return new PostReply(response, null);
    return new PostReply(response, () => {
      const log = new EventLog(`${this.#life}-${this.#nextStream}`, { primes: this.#primes });
      this.#nextStream += 1;
      this.#kept.set(log.name, log);
      for (const [name, kept] of this.#kept) {
        if (kept.isDone || this.#kept.size > MAX_KEPT) this.#kept.delete(name);
      }
      log.attach(this.#streams.begin(response));
      return log;
    });
  }

  async answer(request: Request, reply: PostReply): Promise<void> {
    const result = await this.#resultOf(request, reply);
    if (result === null) reply.drop();
    else reply.answer(request.id, result);
  }

  /** All on one stream, each as it comes. */
  async answerAll(requests: readonly Request[], reply: PostReply): Promise<void> {
    reply.stream();
    const send = async (request: Request) => {
      const result = await this.#resultOf(request, reply);
      if (result !== null) reply.send(answerMessage(request.id, result));
    };
    await Promise.all(requests.map(send));
    reply.drop();
  }

  take(told: Told): void {
    if (told.kind === 'response') this.#session.answered(told);
    else this.#session.notified(told.method, told.params);
  }

  /**
   * Makes a response the stream of what belongs to no request, or goes on with the one that `last` is of.
   *
   * @param last the event id that the client saw last
   * @returns false when nothing is kept of that stream
   */
  listen(response: ServerResponse, last: string | undefined): boolean {
    const at = last === undefined ? null : readEventId(last);
    const isPushed = at === null || at.name.endsWith(PUSHED);
    const log = isPushed ? this.#pushed : this.#kept.get(at.name);
    if (!log) return false;
    // What belongs to no request is told to whoever listens, also to whom another process told the like before.
    log.attach(this.#streams.begin(response), at?.name === log.name ? at.number : undefined);
    return true;
  }

  close(): void {
    this.#session.close();
    this.#pushed.disconnect();
    for (const log of this.#kept.values()) log.disconnect();
  }

  #resultOf(request: Request, reply: PostReply): ReturnType<LegacySession['answer']> {
    return this.#session.answer(request, {
      send: (message) => reply.send(message),
      // A client that wasn't told a place to come back to would lose the answer.
      ...(this.#primes && { disconnect: () => reply.disconnect() }),
    });
  }
}
