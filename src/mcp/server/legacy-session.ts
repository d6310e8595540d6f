import type { Identity, Json, JsonObject } from '../../contracts/index.ts';
import { type Abortable, Cancellation, signalOf } from '../../tools/index.ts';
import { CODES, LEGACY_REVISION, LEGACY_REVISIONS } from '../wire/index.ts';
import type { Answers } from './answers.ts';
import type { Changes } from './changes.ts';
import { text } from './content-answers.ts';
import { isObject } from './is-object.ts';
import type { KeptText } from './kept-text.ts';
import { isAtLeast, isLogLevel } from './log-levels.ts';
import type { Exchange } from './peer.ts';
import { type Id, notificationMessage, RpcError, requestMessage } from './rpc.ts';
import type { Served } from './served.ts';
import { tasksCapability } from './task-answers.ts';

/** Most resources that one session subscribes to, and most questions that wait for its client's answers. */
const MAX_SUBSCRIBED = 1000;
const MAX_ASKED = 1000;
/** How long a person may take to answer, in milliseconds. */
const ANSWER_MS = 30 * 60_000;

/** What was agreed in `initialize`. */
export interface Agreed {
  readonly revision: string;
  readonly capabilities: JsonObject;
}

/** Where a request's messages go; `disconnect` ends the connection, where the client can come back for the rest. */
interface Way {
  /** False where the client can't be told. */
  readonly send: (message: string) => boolean;
  readonly disconnect?: () => void;
}

interface Asked {
  resolve(result: Json): void;
  reject(error: Error): void;
}

/** @throws RpcError for a request to `initialize` that isn't one */
export function agree(params: JsonObject): Agreed {
  const { capabilities, clientInfo } = params;
  const wanted = text(params, 'protocolVersion');
  if (!isObject(capabilities))
    throw new RpcError(CODES.invalidParams, 'Invalid params: capabilities must be an object');
  if (!isObject(clientInfo)) throw new RpcError(CODES.invalidParams, 'Invalid params: clientInfo must be an object');
  return { revision: LEGACY_REVISIONS.has(wanted) ? wanted : LEGACY_REVISION, capabilities };
}

/** The result of `initialize`, as JSON text. */
export function initialized({ service, tasks }: Served, { revision }: Agreed, who: Identity): string {
  const { serverInfo, capabilities, instructions } = service;
  const said = instructions !== undefined && { instructions };
  const more = hasTasks(revision) && tasks.isOffered(who) && { tasks: tasksCapability(who) };
  return JSON.stringify({ protocolVersion: revision, capabilities: { ...capabilities, ...more }, serverInfo, ...said });
}

function hasTasks(revision: string): boolean {
  return revision >= '2025-11-25';
}

/**
 * One session of the revisions up to 2025-11-25, whatever carries it: what `initialize` agreed on, what runs, what is asked
 * and what is subscribed to.
 */
export class LegacySession {
  readonly agreed: Agreed;
  readonly #who: Identity;
  readonly #conversation: string;
  readonly #answers: Answers;
  readonly #changes: Changes;
  /** Sends what belongs to no request. */
  readonly #push: (message: string) => void;
  readonly #running = new Map<Id, Set<Cancellation>>();
  readonly #asked = new Map<Id, Asked>();
  readonly #subscribed = new Map<string, () => void>();
  readonly #unfollow: () => void;
  readonly #hasContent: boolean;
  #nextId = 0;
  #logLevel: string | undefined;

  constructor(
    { service, answers, changes }: Served,
    { who, conversation, agreed }: { readonly who: Identity; readonly conversation: string; readonly agreed: Agreed },
    push: (message: string) => void,
  ) {
    this.agreed = agreed;
    this.#who = who;
    this.#conversation = conversation;
    this.#answers = answers;
    this.#changes = changes;
    this.#push = push;
    this.#hasContent = service.host.content !== undefined;
    this.#unfollow = changes.onLists((method) => push(notificationMessage(method)));
  }

  /** Something of it goes on. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /**
   * Answers one request.
   *
   * @param way takes what belongs to this request before its result: notifications, and questions to the client
   * @returns JSON text of the result, the error, or null for a request that was cancelled and gets no answer
   */
  async answer(
    { id, method, params }: { readonly id: Id; readonly method: string; readonly params: JsonObject },
    way: Way,
  ): Promise<string | KeptText | RpcError | null> {
    const own = this.#own(method, params);
    if (own !== undefined) return own;
    const cancel = new Cancellation();
    const running = this.#running.get(id) ?? new Set();
    running.add(cancel);
    this.#running.set(id, running);
    try {
      const answer = await this.#answers.answer(method, params, this.#exchange(params, cancel, way));
      return cancel.aborted ? null : answer;
    } finally {
      running.delete(cancel);
      if (running.size === 0) this.#running.delete(id);
    }
  }

  /** Takes a notification of the client. One that means nothing here is left alone. */
  notified(method: string, params: JsonObject): void {
    if (method !== 'notifications/cancelled') return;
    const { requestId } = params;
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    for (const one of this.#running.get(requestId) ?? []) one.abort();
  }

  /** Takes the client's answer to one of our requests. */
  answered({ id, result, error }: { readonly id: Id; readonly result?: Json; readonly error?: Json }): void {
    const asked = this.#asked.get(id);
    if (!asked) return;
    if (result !== undefined) asked.resolve(result);
    else asked.reject(new Error(isObject(error) && typeof error.message === 'string' ? error.message : 'it refused'));
  }

  /** Ends everything that goes on. */
  close(): void {
    this.#unfollow();
    for (const stop of this.#subscribed.values()) stop();
    this.#subscribed.clear();
    for (const running of this.#running.values()) for (const one of running) one.abort();
    for (const { reject } of [...this.#asked.values()]) reject(new Error('the session has ended'));
  }

  /** What is answered by the session itself. */
  #own(method: string, params: JsonObject): string | RpcError | undefined {
    switch (method) {
      case 'ping':
        return '{}';
      case 'initialize':
        return new RpcError(CODES.invalidRequest, 'Invalid Request: the session is initialized already');
      case 'logging/setLevel': {
        if (!isLogLevel(params.level))
          return new RpcError(CODES.invalidParams, 'Invalid params: level is no log level');
        this.#logLevel = params.level;
        return '{}';
      }
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.#hasContent ? this.#subscribe(method, params) : undefined;
      default:
        return undefined;
    }
  }

  #subscribe(method: string, { uri }: JsonObject): string | RpcError {
    if (typeof uri !== 'string') return new RpcError(CODES.invalidParams, 'Invalid params: uri must be a string');
    if (method === 'resources/unsubscribe') {
      this.#subscribed.get(uri)?.();
      this.#subscribed.delete(uri);
      return '{}';
    }
    if (this.#subscribed.has(uri)) return '{}';
    if (this.#subscribed.size >= MAX_SUBSCRIBED)
      return new RpcError(CODES.invalidParams, `Too many subscriptions: a session has at most ${MAX_SUBSCRIBED}`);
    const tell = () => this.#push(notificationMessage('notifications/resources/updated', { uri }));
    this.#subscribed.set(uri, this.#changes.onUpdated(uri, this.#who, tell));
    return '{}';
  }

  #exchange(params: JsonObject, signal: Abortable, { send, disconnect }: Way): Exchange {
    return {
      peer: { who: this.#who, conversation: this.#conversation, era: 'legacy' },
      signal,
      meta: isObject(params._meta) ? params._meta : {},
      capabilities: this.agreed.capabilities,
      // A client that never said which wants those that there are.
      wantsLog: (level) => this.#logLevel === undefined || isAtLeast(level, this.#logLevel),
      notify(method, told) {
        if (!signal.aborted) send(notificationMessage(method, told));
      },
      ...(disconnect && { disconnect }),
      hasTasks: hasTasks(this.agreed.revision),
      push: (method, told) => this.#push(notificationMessage(method, told)),
      ask: (method, asked) => this.#ask(method, asked, signal, send),
    };
  }

  async #ask(
    method: string,
    params: JsonObject | undefined,
    wanted: Abortable,
    send: (message: string) => boolean,
  ): Promise<Json> {
    const signal = signalOf(wanted);
    signal.throwIfAborted();
    if (this.#asked.size >= MAX_ASKED) throw new Error('too many questions wait for this client');
    // Told apart from the client's own ids, which a careless client might take it for.
    const id = `bridle-${this.#nextId}`;
    this.#nextId += 1;
    let timer: NodeJS.Timeout | undefined;
    let onAbort = () => {};
    const giveUp = (reason: string) => {
      send(notificationMessage('notifications/cancelled', { requestId: id, reason }));
      return new Error(reason);
    };
    try {
      return await new Promise<Json>((resolve, reject) => {
        this.#asked.set(id, { resolve, reject });
        onAbort = () => reject(giveUp('the call was cancelled'));
        signal.addEventListener('abort', onAbort, { once: true });
        timer = setTimeout(() => reject(giveUp('nobody answered in time')), ANSWER_MS);
        if (!send(requestMessage(id, method, params)))
          reject(new Error('this client takes no stream on which to ask it'));
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.#asked.delete(id);
    }
  }
}
