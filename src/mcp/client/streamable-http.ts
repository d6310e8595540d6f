import { setMaxListeners } from 'node:events';
import type { Readable } from 'node:stream';
import type { Json, RawJson } from '../../contracts/index.ts';
import { headersFor, headerValue, type ParamHeader, paramHeaders } from '../../tools/index.ts';
import { MODERN_REVISION } from '../wire/index.ts';
import { modernMeta } from './era.ts';
import { McpError } from './errors.ts';
import { contentType, type HttpAnswer, readBody } from './http-client.ts';
import { answerTooLarge, lost, noMcpAnswer, sessionExpired } from './http-errors.ts';
import { errorIn, type HttpPlan, pause, readWords, refuseByStatus } from './http-link.ts';
import { isObject, rawElements, rawMember } from './message.ts';
import { retryAfterMs } from './retry-after.ts';
import { type Outgoing, Session } from './session.ts';
import { watchSilence } from './silence.ts';
import { type SseReader, sseReader } from './sse.ts';

const ACCEPT = 'application/json, text/event-stream';
const RETRY_MS = 1000;
const MIN_RETRY_MS = 50;
const MAX_RETRY_MS = 60_000;
/** A stream that stood this long was in good order. */
const STOOD_MS = 30_000;
const MAX_RESUMES = 5;
/** Most further tries of a request that the server wants later. */
const MAX_LATER = 3;
/** After an answer, how long the server may take to end its stream itself, so that the connection can be kept. */
const GRACE_MS = 250;
const DELETE_MS = 2000;

/** Methods whose `Mcp-Name` header repeats this member of their parameters. */
const NAMED: ReadonlyMap<string, 'name' | 'uri'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

/**
 * One session, or one modern server, over Streamable HTTP (MCP 2026-07-28 and 2025-11-25). Each message is a POST of its
 * own; what comes back, on whichever stream, goes to the session.
 */
export class StreamableHttp {
  readonly session: Session;
  #plan: HttpPlan;
  #modern = false;
  /** What `initialize` agreed on. */
  #revision: string | undefined;
  #sessionId: string | undefined;
  #params = new Map<string, readonly ParamHeader[]>();
  #exchanges = new Map<number, AbortController>();
  #cancelled = new Set<number>();
  #all = new AbortController();
  #listening = new AbortController();
  #notices: Promise<unknown> = Promise.resolve();
  #probe: Promise<boolean> | null = null;
  /** The last time it was asked, nothing answered. */
  #isGone = false;
  #stopped: Promise<void> | null = null;

  constructor(plan: HttpPlan) {
    this.#plan = plan;
    // One listener an exchange, and there may be many.
    setMaxListeners(0, this.#all.signal, this.#listening.signal);
    this.session = new Session({
      name: plan.subject.name,
      clean: (text) => plan.subject.clean(text),
      send: (text, message) => this.#send(text, message),
      noise: (line) => plan.noise.add(line),
      stray: () => plan.stray(),
      notification: (method, params) => plan.notification(method, params),
      ...(plan.input && { input: (request: RawJson) => plan.input?.(request) ?? Promise.resolve(null) }),
      cancel: (id, reason) => this.#cancel(id, reason),
      settled: (id) => this.#settled(id),
    });
  }

  /** What goes out from now on is of the modern era, or of the legacy one. */
  speak(modern: boolean): void {
    this.#modern = modern;
    this.session.meta = modern ? modernMeta(this.#plan.capabilities) : null;
  }

  /** The legacy handshake agreed on a revision. */
  agreed(revision: string): void {
    this.#revision = revision;
  }

  /** Nothing more comes over it. */
  get done(): boolean {
    return this.#listening.signal.aborted && this.#exchanges.size === 0;
  }

  /** Resolves when the server has taken every notification so far. */
  async flushed(): Promise<void> {
    await this.#notices;
  }

  /** Reads from a tool list which parameters go into headers. */
  learn(list: RawJson): void {
    if (!this.#modern) return;
    const tools = rawMember(list, 'tools');
    for (const raw of tools ? rawElements(tools) : []) {
      const tool = raw.parse();
      if (!isObject(tool) || typeof tool.name !== 'string') continue;
      const params = paramHeaders(tool.inputSchema);
      if ('invalid' in params || params.length === 0) this.#params.delete(tool.name);
      else this.#params.set(tool.name, params);
    }
  }

  /** Why a tool must not be used over this transport, if so. */
  refuses(tool: Json): string | null {
    if (!this.#modern || !isObject(tool)) return null;
    const params = paramHeaders(tool.inputSchema);
    return 'invalid' in params ? params.invalid : null;
  }

  /** Opens the stream on which a legacy server tells what belongs to no request. Servers without one say so. */
  listen(): void {
    void this.#listen().catch(() => {});
  }

  /** Ends all exchanges, and the session with the server. */
  stop(error: McpError): Promise<void> {
    this.#stopped ??= (async () => {
      this.session.end(error);
      this.#listening.abort();
      this.#all.abort();
      if (this.#sessionId === undefined || this.#modern) return;
      const signal = AbortSignal.timeout(DELETE_MS);
      const { client } = this.#plan;
      await client.send({ method: 'DELETE', headers: this.#sessionHeaders(), signal }).then(
        ({ body }) => body.destroy(),
        () => {},
      );
    })();
    return this.#stopped;
  }

  /** The server has forgotten the session: only answers that are on their way are still waited for. */
  retire(): void {
    this.#sessionId = undefined;
    this.#listening.abort();
  }

  #send(text: string, message: Outgoing): boolean {
    if (this.#all.signal.aborted) return false;
    const { id } = message;
    if (id === undefined) {
      const notice = this.#post(text, message, this.#all.signal).then(({ body }) => body.resume());
      this.#notices = Promise.allSettled([this.#notices, notice]);
      return true;
    }
    const exchange = new AbortController();
    this.#exchanges.set(id, exchange);
    const ended = () => exchange.abort();
    this.#all.signal.addEventListener('abort', ended, { once: true });
    const isSubscription = message.method === 'subscriptions/listen';
    void (isSubscription ? this.#subscribe : this.#exchange)
      .call(this, id, text, message, exchange.signal)
      .catch((error: unknown) => {
        const known = error instanceof McpError ? error : lost(this.#plan.subject, String(error));
        this.session.fail(id, known);
      })
      .finally(() => {
        this.#all.signal.removeEventListener('abort', ended);
        this.#exchanges.delete(id);
        this.#cancelled.delete(id);
      });
    return true;
  }

  #cancel(id: number, reason: string): void {
    this.#cancelled.add(id);
    // In the modern era the end of the stream says it.
    if (!this.#modern) this.session.notify('notifications/cancelled', { requestId: id, reason });
  }

  #settled(id: number): void {
    const exchange = this.#exchanges.get(id);
    if (!exchange) return;
    if (this.#cancelled.has(id) || this.session.ended) exchange.abort();
    else setTimeout(() => exchange.abort(), GRACE_MS).unref();
  }

  #sessionHeaders(): Record<string, string> {
    return {
      ...(this.#revision !== undefined && { 'mcp-protocol-version': this.#revision }),
      ...(this.#sessionId !== undefined && { 'mcp-session-id': this.#sessionId }),
    };
  }

  #headers({ method = '', params }: Outgoing): Record<string, string> {
    // The handshake belongs to no session yet, and to the legacy era.
    if (!this.#modern) return method === 'initialize' ? {} : this.#sessionHeaders();
    const given = isObject(params) ? params : {};
    const name = given[NAMED.get(method) ?? ''];
    const mirrored = method === 'tools/call' && typeof name === 'string' ? this.#params.get(name) : undefined;
    return {
      'mcp-protocol-version': MODERN_REVISION,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
      ...(mirrored && headersFor(mirrored, given.arguments)),
    };
  }

  #post(text: string, message: Outgoing, signal: AbortSignal): Promise<HttpAnswer> {
    const headers = { accept: ACCEPT, 'content-type': 'application/json', ...this.#headers(message) };
    // A subscription waits for ever, and the process must not wait with it.
    const background = message.method === 'subscriptions/listen';
    return this.#plan.client.send({ method: 'POST', headers, body: text, signal, background });
  }

  #silence(dead: () => void) {
    return watchSilence(this.#plan.silenceMs, () => this.#isThere(), dead);
  }

  /** One that stands where nothing answers would be silent for ever: after such a silence, something has to answer first. */
  async #answering(signal: AbortSignal): Promise<void> {
    let wait = MIN_RETRY_MS;
    while (this.#isGone && !(await this.#isThere()) && !signal.aborted) {
      await pause(wait, signal);
      wait = Math.min(wait * 2, MAX_RETRY_MS);
    }
  }

  async #subscribe(id: number, text: string, message: Outgoing, signal: AbortSignal): Promise<void> {
    await this.#answering(signal);
    const { subject } = this.#plan;
    const silence = this.#silence(() => this.session.fail(id, lost(subject, 'nothing answers there any more')));
    await this.#exchange(id, text, message, signal, silence.heard).finally(silence.stop);
  }

  /** Whether anything answers, whatever it says. One question at a time, for all streams. */
  #isThere(): Promise<boolean> {
    const limits = { idleMs: this.#plan.probeMs, hardMs: this.#plan.probeMs };
    this.#probe ??= this.session
      .request(this.#modern ? 'server/discover' : 'ping', {}, limits, { housekeeping: true })
      .then(
        () => true,
        (error) => error instanceof McpError && (error.rpc !== undefined || error.status !== undefined),
      )
      .then((isThere) => {
        this.#probe = null;
        this.#isGone = !isThere;
        return isThere;
      });
    return this.#probe;
  }

  async #exchange(id: number, text: string, message: Outgoing, signal: AbortSignal, heard?: () => void): Promise<void> {
    const { subject, maxFrameBytes } = this.#plan;
    const method = message.method ?? '';
    const inSession = !this.#modern && this.#sessionId !== undefined && method !== 'initialize';
    let answer = await this.#post(text, message, signal);
    for (let tries = 0; tries < MAX_LATER; tries += 1) {
      const wait = retryAfterMs(method, answer.status, answer.headers);
      if (wait === null) break;
      answer.body.destroy();
      await pause(wait, signal);
      answer = await this.#post(text, message, signal);
    }
    if (answer.status < 200 || answer.status >= 300) {
      await refuseByStatus(this.session, subject, { id, method, inSession }, answer);
      return;
    }
    const given = answer.headers['mcp-session-id'];
    if (method === 'initialize' && typeof given === 'string') this.#sessionId = given;
    const type = contentType(answer.headers);
    if (type === 'text/event-stream') {
      await this.#stream(id, answer.body, signal, heard);
      return;
    }
    if (type === undefined || !/[/+]json$/.test(type)) {
      this.session.fail(id, noMcpAnswer(subject, method, await readWords(answer)));
      return;
    }
    const body = await readBody(answer.body, maxFrameBytes).catch((error: Error) => {
      throw lost(subject, error.message, error);
    });
    if (body === null) throw answerTooLarge(subject, maxFrameBytes);
    this.session.receive(body, id);
    if (!this.session.waits(id)) return;
    const error = errorIn(body);
    if (error) this.session.refuse(id, error);
    else this.session.fail(id, noMcpAnswer(subject, method, { status: answer.status, type, text: body }));
  }

  /** Reads the stream of one request, also over several connections, until its answer is there. */
  async #stream(id: number, first: Readable, signal: AbortSignal, heard?: () => void): Promise<void> {
    const { subject } = this.#plan;
    let lastId: string | undefined;
    let retryMs: number | undefined;
    for (let body: Readable | null = first; body; ) {
      const reader = this.#reader(id);
      const why = await this.#read(body, reader, heard);
      if (!this.session.waits(id)) return;
      lastId = reader.lastId ?? lastId;
      retryMs = reader.retryMs ?? retryMs;
      // MCP 2026-07-28 has no resumption; before, a stream with event ids may be gone on with.
      if (this.#modern || lastId === undefined) throw lost(subject, why);
      body = await this.#resume(lastId, retryMs ?? RETRY_MS, signal);
    }
    throw lost(subject, 'its stream could not be resumed');
  }

  #reader(id?: number): SseReader {
    return sseReader(this.#plan.maxFrameBytes, {
      event: ({ event, data }) => {
        if (event === 'message') this.session.receive(data, id);
        else this.#plan.noise.add(`event: ${event}`);
      },
      garbage: (line) => this.#plan.noise.add(line),
    });
  }

  /** @returns why the stream ended */
  async #read(body: Readable, reader: SseReader, heard?: () => void): Promise<string> {
    const { subject, maxFrameBytes } = this.#plan;
    try {
      for await (const chunk of body) {
        heard?.();
        if (reader.push(chunk as Buffer)) continue;
        body.destroy();
        throw answerTooLarge(subject, maxFrameBytes);
      }
    } catch (error) {
      if (error instanceof McpError) throw error;
      return error instanceof Error ? error.message : 'the stream broke';
    }
    reader.end();
    return 'its stream ended';
  }

  #get(signal: AbortSignal, lastId: string | undefined, background: boolean): Promise<HttpAnswer> {
    const resume = lastId === undefined ? {} : { 'last-event-id': lastId };
    const headers = { accept: 'text/event-stream', ...this.#sessionHeaders(), ...resume };
    return this.#plan.client.send({ method: 'GET', headers, signal, background });
  }

  async #resume(lastId: string, retryMs: number, signal: AbortSignal): Promise<Readable | null> {
    let wait = Math.min(Math.max(retryMs, MIN_RETRY_MS), MAX_RETRY_MS);
    for (let tries = 0; tries < MAX_RESUMES && !signal.aborted; tries += 1) {
      await pause(wait, signal);
      wait = Math.min(wait * 2, MAX_RETRY_MS);
      const answer = await this.#get(signal, lastId, false).catch(() => null);
      if (answer && isStream(answer)) return answer.body;
      answer?.body.destroy();
      if (answer && answer.status < 500 && answer.status !== 408 && answer.status !== 429) return null;
    }
    return null;
  }

  async #listen(): Promise<void> {
    const { signal } = this.#listening;
    let lastId: string | undefined;
    let wait = RETRY_MS;
    let stood = false;
    while (!signal.aborted) {
      await this.#answering(signal);
      const from = Date.now();
      const attempt = new AbortController();
      const silence = this.#silence(() => attempt.abort());
      const until = AbortSignal.any([signal, attempt.signal]);
      const answer = await this.#get(until, lastId, true).catch(() => null);
      let asked: number | undefined;
      if (answer && isStream(answer)) {
        // Without ids to go on from, what was told in between is lost.
        if (stood && lastId === undefined) this.#plan.missed();
        stood = true;
        const reader = this.#reader();
        await this.#read(answer.body, reader, silence.heard).catch(() => '');
        lastId = reader.lastId ?? lastId;
        asked = reader.retryMs;
      } else if (answer) {
        silence.stop();
        answer.body.destroy();
        // Before there was a stream, 404 is how some servers say that they have none.
        if (answer.status === 404 && stood && this.#sessionId !== undefined) {
          this.#plan.lost(this.session, sessionExpired(this.#plan.subject, answer.status));
          return;
        }
        if (answer.status < 500 && answer.status !== 408 && answer.status !== 429) return;
      }
      silence.stop();
      if (Date.now() - from >= STOOD_MS) wait = RETRY_MS;
      await pause(Math.max(asked ?? wait, MIN_RETRY_MS), signal);
      wait = Math.min(wait * 2, MAX_RETRY_MS);
    }
  }
}

function isStream({ status, headers }: HttpAnswer): boolean {
  return status >= 200 && status < 300 && contentType(headers) === 'text/event-stream';
}
