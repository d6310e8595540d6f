import type { CallContext, Executed, Json, JsonObject, RawJson } from '../../contracts/index.ts';
import { isBridleError, onAbort, printable } from '../../tools/index.ts';
import { CODES, META } from '../wire/index.ts';
import { McpError, messageOf, withExecuted } from './errors.ts';
import { answeredBy } from './answered-by.ts';
import { isObject, type Message, rawMember, readMessages } from './message.ts';
import { timeLimit } from './time-limit.ts';

export type RequestContext = Pick<CallContext, 'signal' | 'idleMs' | 'hardMs' | 'onEvent' | 'input' | 'canAnswer'>;

/** What a message is that goes out, for a transport that puts some of it beside the text. */
export interface Outgoing {
  /** There for a request. */
  readonly id?: number;
  /** Absent for an answer. */
  readonly method?: string;
  readonly params?: Json;
}

/** What the session needs of the connection it lives in. */
export interface SessionHost {
  /** For messages: which server, by key and where it is. */
  readonly name: string;
  /** Writes one message; false when it can't be written. */
  send(text: string, message: Outgoing): boolean;
  /** Tells the server that a request is given up. Without this, `notifications/cancelled` does. */
  cancel?(id: number, reason: string): void;
  /** A request has come to its end, whichever it was. */
  settled?(id: number): void;
  /** Takes secrets out of what a server said. */
  clean?(text: string): string;
  /** A line that is no JSON-RPC. */
  noise(line: string): void;
  /** An answer to nothing that was asked, or a request in the era that has none of the server. */
  stray(): void;
  notification(method: string, params: RawJson): void;
  /** Answers a request of the server that belongs to no running request. */
  input?(request: RawJson): Promise<Json>;
}

interface Pending {
  readonly method: string;
  readonly ctx: Partial<RequestContext>;
  readonly housekeeping: boolean;
  resolve(result: RawJson): void;
  reject(error: McpError): void;
  /** Starts the idle limit anew. */
  heard(): void;
  /** Stops the idle limit while the server waits for us. */
  pauseIdle(paused: boolean): void;
}

const BYTE_ORDER_MARK = '\ufeff';

/**
 * The JSON-RPC half of a connection to one running server: request ids of this hop, their limits, progress,
 * cancellation, and the server's own requests. It knows nothing of processes and little of eras.
 */
export class Session {
  /** What a modern server wants to find in each request's `_meta`; null on legacy sessions. */
  meta: JsonObject | null = null;
  /** Set when the session can't be used any more. */
  ended: McpError | null = null;
  #host: SessionHost;
  #nextId = 1;
  #pending = new Map<number, Pending>();
  /** Requests of the server that are being answered. */
  #answering = new Set<string | number>();

  constructor(host: SessionHost) {
    this.#host = host;
  }

  /**
   * Sends a request and waits for its result.
   *
   * @param ctx limits in milliseconds; a request of our own housekeeping may leave everything out
   * @returns the `result` member as received
   * @throws McpError
   */
  request(
    method: string,
    params: Json,
    ctx: Partial<RequestContext>,
    options: { readonly housekeeping?: boolean } = {},
  ): Promise<RawJson> {
    const id = this.#nextId++;
    if (this.ended) return Promise.reject(withExecuted(this.ended, 'not_executed'));
    let text: string;
    try {
      text = JSON.stringify({ jsonrpc: '2.0', id, method, params: this.#withMeta(params, ctx, id) });
    } catch (cause) {
      return Promise.reject(
        new McpError('mcp_not_json', `The parameters of ${method} can't be written as JSON: ${messageOf(cause)}`, {
          executed: 'not_executed',
          cause,
        }),
      );
    }
    return new Promise((resolve, reject) => {
      let idle: NodeJS.Timeout | undefined;
      let hard: NodeJS.Timeout | undefined;
      let paused = 0;
      let unsubscribe: (() => void) | undefined;
      const { signal } = ctx;
      const settle = () => {
        this.#pending.delete(id);
        clearTimeout(idle);
        clearTimeout(hard);
        unsubscribe?.();
        this.#host.settled?.(id);
      };
      const giveUp = (error: McpError, reason: string) => {
        // The handshake is the one request that must not be cancelled.
        if (method !== 'initialize') this.#cancel(id, reason);
        settle();
        reject(error);
      };
      const cancel = () =>
        giveUp(
          new McpError('mcp_cancelled', `${method} to ${this.#host.name} was cancelled.`, { executed: 'unknown' }),
          'cancelled by the caller',
        );
      const startIdle = () => {
        idle = timeLimit(ctx.idleMs, () => giveUp(this.#silent(method, ctx.idleMs ?? 0), 'idle limit'));
      };
      if (signal?.aborted) {
        reject(
          new McpError('mcp_cancelled', `${method} was cancelled before it was sent.`, { executed: 'not_executed' }),
        );
        return;
      }
      if (!this.#host.send(text, { id, method, params })) {
        reject(this.#unwritable(method));
        return;
      }
      this.#pending.set(id, {
        method,
        ctx,
        housekeeping: options.housekeeping ?? false,
        resolve: (result) => {
          settle();
          resolve(result);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
        heard: () => {
          if (paused === 0) idle?.refresh();
        },
        pauseIdle: (pause) => {
          paused += pause ? 1 : -1;
          clearTimeout(idle);
          if (paused === 0 && this.#pending.has(id)) startIdle();
        },
      });
      if (signal) unsubscribe = onAbort(signal, cancel);
      startIdle();
      hard = timeLimit(ctx.hardMs, () => giveUp(this.#tooLong(method, ctx.hardMs ?? 0), 'hard limit'));
    });
  }

  notify(method: string, params?: Json): void {
    if (!this.ended)
      this.#host.send(JSON.stringify({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) }), { method });
  }

  /** Whether a request is still without an answer. */
  waits(id: number): boolean {
    return this.#pending.has(id);
  }

  /** Ends one request that the transport knows can't be answered any more. */
  fail(id: number, error: McpError): void {
    this.#pending.get(id)?.reject(error);
  }

  /**
   * Ends one request with an error that came without its id, or beside a status that says more than its code.
   *
   * @param known what is known of the request's effect; by the code when left out
   */
  refuse(
    id: number,
    answer: Extract<Message, { kind: 'error' }>,
    known?: { executed?: Executed; status?: number },
  ): void {
    const pending = this.#pending.get(id);
    pending?.reject(this.#refused(pending.method, answer, known));
  }

  /**
   * Takes one line of the server.
   *
   * @param of the request that it came for, where the transport says so
   */
  receive(line: string, of?: number): void {
    // Some runtimes begin their output with a byte order mark, and the first line is the answer to our first question.
    const text = line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
    const first = text.trimStart()[0];
    const messages = first === '{' || first === '[' ? readMessages(text) : null;
    if (messages === null) {
      this.#host.noise(line);
      return;
    }
    for (const message of messages) this.#take(message, of);
  }

  /** Ends the session; whatever is in flight fails now. */
  end(error: McpError): void {
    if (this.ended) return;
    this.ended = error;
    for (const pending of [...this.#pending.values()]) pending.reject(withExecuted(error, 'unknown'));
  }

  #cancel(id: number, reason: string): void {
    if (this.#host.cancel) this.#host.cancel(id, reason);
    else this.notify('notifications/cancelled', { requestId: id, reason });
  }

  #withMeta(params: Json, ctx: Partial<RequestContext>, id: number): JsonObject {
    const given = isObject(params) ? params : {};
    const token = ctx.onEvent ? { progressToken: id } : {};
    if (this.meta === null && !ctx.onEvent && given._meta === undefined) return given;
    const { progressToken: _, ...meta } = isObject(given._meta) ? given._meta : {};
    const envelope = this.meta && { ...this.meta, [META.clientCapabilities]: this.#capabilities(this.meta, ctx) };
    return { ...given, _meta: { ...meta, ...envelope, ...token } };
  }

  /** What can be asked in this very request: what whoever it is for answers, where that is known. */
  #capabilities(meta: JsonObject, { input, canAnswer }: Partial<RequestContext>): Json {
    const declared = meta[META.clientCapabilities] ?? {};
    if (canAnswer && isObject(declared)) return answeredBy(declared, canAnswer);
    return input || this.#host.input ? declared : {};
  }

  #take(message: Message, of: number | undefined): void {
    switch (message.kind) {
      case 'result':
      case 'error': {
        const pending = typeof message.id === 'number' ? this.#pending.get(message.id) : undefined;
        if (!pending) this.#host.stray();
        else if (message.kind === 'result') pending.resolve(message.result);
        else pending.reject(this.#refused(pending.method, message));
        return;
      }
      case 'notification':
        this.#notified(message.method, message.params, of);
        return;
      case 'request':
        // MCP 2026-07-28: there are no requests of the server, and a client must not write responses.
        if (this.meta !== null) this.#host.stray();
        else this.#answer(message, of).catch(() => {});
    }
  }

  #notified(method: string, params: RawJson, of: number | undefined): void {
    const detail = params.parse();
    if (method === 'notifications/progress') {
      const token = isObject(detail) ? detail.progressToken : undefined;
      const pending = typeof token === 'number' ? this.#pending.get(token) : undefined;
      pending?.heard();
      this.#tell(pending, 'progress', params);
      return;
    }
    if (method === 'notifications/cancelled') {
      this.#withdrawn(isObject(detail) ? detail.requestId : undefined);
      return;
    }
    // Of this hop only: it says that our own subscription stands.
    if (method === 'notifications/subscriptions/acknowledged') return;
    if (method === 'notifications/message') {
      this.#tell(this.#only(of), 'log', params);
    }
    this.#host.notification(method, params);
  }

  /** A legacy server takes a question back; a modern one ends our subscription. */
  #withdrawn(id: Json | undefined): void {
    if (typeof id === 'string' || typeof id === 'number') this.#answering.delete(id);
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (pending?.method === 'subscriptions/listen') pending.resolve({ text: '{}', parse: () => ({}) });
  }

  #tell(pending: Pending | undefined, kind: 'progress' | 'log', raw: RawJson): void {
    try {
      pending?.ctx.onEvent?.({ kind, raw });
    } catch {
      // A listener's fault is not the call's.
    }
  }

  /** Requests in flight during which a server may have something to ask or to log. */
  #running(): Pending[] {
    return [...this.#pending.values()].filter((pending) => !pending.housekeeping && !pending.method.endsWith('/list'));
  }

  /**
   * The request that a log line or a question belongs to. Where the transport doesn't say it, neither does the protocol,
   * so it is known only of one that runs alone.
   */
  #only(of: number | undefined): Pending | undefined {
    if (of !== undefined) return this.#pending.get(of);
    const [first, second] = this.#running();
    return second ? undefined : first;
  }

  async #answer(request: Extract<Message, { kind: 'request' }>, of: number | undefined): Promise<void> {
    const { id, method, raw } = request;
    // As spelled: an id may be a number that JavaScript can't hold.
    const spelled = rawMember(raw, 'id')?.text ?? JSON.stringify(id);
    const reply = (body: JsonObject) =>
      this.#host.send(`{"jsonrpc":"2.0","id":${spelled},${JSON.stringify(body).slice(1)}`, {});
    if (method === 'ping') {
      reply({ result: {} });
      return;
    }
    const only = this.#only(of);
    const asked = only?.ctx.input ? only : undefined;
    // The folders are the connection's affair; a question to a person belongs to the one call that can have raised it.
    const forHost = this.#running().length === 0 || method === 'roots/list';
    const input = asked?.ctx.input ?? (forHost ? this.#host.input : undefined);
    const known = method === 'roots/list' || method === 'elicitation/create' || method === 'sampling/createMessage';
    if (!known || !input) {
      if (method === 'elicitation/create') reply({ result: { action: 'decline' } });
      else reply({ error: { code: CODES.unknownMethod, message: `This client doesn't answer ${method}` } });
      return;
    }
    this.#answering.add(id);
    // The server is silent because it waits for us: that silence is not held against it.
    asked?.pauseIdle(true);
    let body: JsonObject;
    try {
      const result = await input(raw);
      // What can't be written as JSON is no answer.
      if (JSON.stringify(result) === undefined) throw new TypeError('no answer');
      body = { result };
    } catch (error) {
      // A refusal in so many words is told to the server; any other fault of the host is not its affair.
      const refusal = isBridleError(error) ? { code: CODES.refused, message: error.message } : undefined;
      body =
        method === 'elicitation/create'
          ? { result: { action: 'cancel' } }
          : { error: refusal ?? { code: CODES.internal, message: `${method} could not be answered` } };
    }
    asked?.pauseIdle(false);
    if (this.#answering.delete(id)) reply(body);
  }

  #refused(
    method: string,
    { code, message, data }: Extract<Message, { kind: 'error' }>,
    known: { executed?: Executed; status?: number } = {},
  ): McpError {
    const refusals: readonly number[] = [
      CODES.parse,
      CODES.invalidRequest,
      CODES.unknownMethod,
      CODES.invalidParams,
      CODES.headerMismatch,
      CODES.missingCapability,
      CODES.unsupportedVersion,
    ];
    const said = printable(this.#host.clean?.(message) ?? message, { maxLength: 2000 });
    return new McpError('mcp_error_answer', `${this.#host.name} answered ${method} with error ${code}: ${said}`, {
      executed: known.executed ?? (refusals.includes(code) ? 'not_executed' : 'unknown'),
      rpc: { code, message, ...(data && { data }) },
      ...(known.status !== undefined && { status: known.status }),
    });
  }

  #silent(method: string, ms: number): McpError {
    return new McpError('mcp_idle_timeout', `${this.#host.name} sent nothing for ${ms} ms while answering ${method}.`, {
      executed: 'unknown',
      passing: true,
      hint: 'Check whether the call took effect before making it again; a slow server may need a higher idle limit.',
    });
  }

  #tooLong(method: string, ms: number): McpError {
    return new McpError('mcp_hard_timeout', `${this.#host.name} had not finished ${method} after ${ms} ms.`, {
      executed: 'unknown',
      hint: 'Check whether the call took effect before making it again; ask for less at once or raise the hard limit.',
    });
  }

  #unwritable(method: string): McpError {
    return new McpError(
      'mcp_not_writable',
      `${this.#host.name} does not take ${method}: it no longer reads its input.`,
      {
        executed: 'not_executed',
        passing: true,
      },
    );
  }
}
