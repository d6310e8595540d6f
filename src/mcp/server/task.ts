import type { Json, JsonObject } from '../../contracts/index.ts';
import { onAbort } from '../../tools/index.ts';
import { isObject } from './is-object.ts';
import type { Exchange } from './peer.ts';
import type { TaskEnd, TaskRecord, TaskStore } from './task-store.ts';

/** Most questions of one task that wait for answers. */
const MAX_ASKED = 100;
/** Longest word on how far it is, in UTF-16 units. */
const MAX_MESSAGE = 500;

/** The key of `_meta` that says which task a message belongs to (MCP 2025-11-25, Tasks). */
export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

interface Asked {
  readonly request: JsonObject;
  /** It was put to a client that waits. */
  isPut: boolean;
  resolve(answer: Json): void;
  reject(error: Error): void;
}

/** A task while its call runs: what is asked in it, who waits for it, who follows it. Its record is what others see. */
export class Task {
  readonly #store: TaskStore;
  readonly #cancel = new AbortController();
  readonly #asked = new Map<string, Asked>();
  /** Clients of the older revision that wait for the result, and are asked meanwhile. */
  readonly #waiting = new Set<Exchange>();
  readonly #followers = new Set<(record: TaskRecord) => void>();
  readonly ended: Promise<void>;
  #record: TaskRecord;
  #finish = () => {};
  #lastKey = 0;

  constructor(store: TaskStore, record: TaskRecord) {
    this.#store = store;
    this.#record = record;
    store.put(record);
    this.ended = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  get record(): TaskRecord {
    return this.#record;
  }

  /** Aborted when the task is cancelled. */
  get signal(): AbortSignal {
    return this.#cancel.signal;
  }

  /** Says how far it is. */
  say(message: string): void {
    if (!this.#record.end) this.#change({ message: message.slice(0, MAX_MESSAGE) });
  }

  /** @param listener told of each change of what goes on, until the end; not of a mere word on how far it is */
  follow(listener: (record: TaskRecord) => void): () => void {
    this.#followers.add(listener);
    return () => void this.#followers.delete(listener);
  }

  /** Asks whoever has the task. Rejects with why there is no answer. */
  async ask(request: JsonObject): Promise<Json> {
    this.signal.throwIfAborted();
    if (this.#record.end) throw new Error('the task has ended');
    if (this.#asked.size >= MAX_ASKED) throw new Error('too many questions of this task wait for answers');
    this.#lastKey += 1;
    const key = `input-${this.#lastKey}`;
    return new Promise<Json>((resolve, reject) => {
      this.#asked.set(key, { request, isPut: false, resolve, reject });
      this.#requestsChanged();
      this.#put(key);
    });
  }

  /** Takes answers by their questions' keys. What nobody asks, or asks any more, is left alone. */
  answer(responses: JsonObject): void {
    const given = Object.entries(responses).flatMap(([key, answer]) => {
      const asked = this.#asked.get(key);
      return asked && isObject(answer) && this.#asked.delete(key) ? [() => asked.resolve(answer)] : [];
    });
    if (given.length === 0) return;
    this.#requestsChanged();
    for (const resolve of given) resolve();
  }

  /** Asks on this exchange what is asked, until the task ends or nobody waits on it any more. */
  async wait(exchange: Exchange): Promise<void> {
    const { signal } = exchange;
    let leave = () => {};
    const gone = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const forget = onAbort(signal, leave);
    this.#waiting.add(exchange);
    for (const key of [...this.#asked.keys()]) this.#put(key);
    await Promise.race([this.ended, gone]);
    forget();
    this.#waiting.delete(exchange);
  }

  /** Ends it, the first time that it is ended: what comes later is of no account. `ttlMs` is how long it is kept now. */
  end(end: TaskEnd, { ttlMs, isCancelled = false, stops = isCancelled, message }: EndOf): void {
    if (this.#record.end) return;
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    // How far it was is of no interest any more.
    const { message: _, ...record } = this.#record;
    this.#record = record;
    this.#change({ end, ttlMs, isCancelled, requests: new Map(), ...(message !== undefined && { message }) });
    for (const { reject } of asked) reject(new Error('the task has ended'));
    this.#finish();
    this.#tell();
    this.#followers.clear();
    if (stops) this.#cancel.abort();
  }

  #put(key: string): void {
    const asked = this.#asked.get(key);
    const exchange = [...this.#waiting].find(({ signal, ask }) => ask && !signal.aborted);
    if (!asked || asked.isPut || !exchange?.ask) return;
    asked.isPut = true;
    const { method, params } = asked.request;
    const given = isObject(params) ? params : {};
    const meta = { ...(isObject(given._meta) && given._meta), [RELATED_TASK]: { taskId: this.#record.id } };
    exchange.ask(String(method), { ...given, _meta: meta }).then(
      (answer) => {
        if (this.#asked.delete(key)) this.#requestsChanged();
        asked.resolve(answer);
      },
      (error: Error) => {
        asked.isPut = false;
        // Whoever waits next is asked instead.
        if (exchange.signal.aborted) this.#put(key);
        else {
          if (this.#asked.delete(key)) this.#requestsChanged();
          asked.reject(error);
        }
      },
    );
  }

  #requestsChanged(): void {
    if (this.#record.end) return;
    this.#change({ requests: new Map([...this.#asked].map(([key, { request }]) => [key, request])) });
    this.#tell();
  }

  #change(change: Partial<TaskRecord>): void {
    this.#record = { ...this.#record, ...change, updatedAt: Date.now() };
    this.#store.put(this.#record);
  }

  #tell(): void {
    for (const listener of [...this.#followers]) listener(this.#record);
  }
}

interface EndOf {
  readonly ttlMs: number;
  readonly isCancelled?: boolean;
  /** The call goes no further. Default: that of a cancelled task. */
  readonly stops?: boolean;
  readonly message?: string | undefined;
}
