import { setMaxListeners } from 'node:events';
import type { RawJson } from '../../contracts/index.ts';
import { McpError } from './errors.ts';
import { contentType, type HttpAnswer } from './http-client.ts';
import { answerTooLarge, lost } from './http-errors.ts';
import { type HttpPlan, readWords, refuseByStatus } from './http-link.ts';
import { shownUrl } from './secrets.ts';
import { type Outgoing, Session } from './session.ts';
import { sseReader } from './sse.ts';
import { timeLimit } from './time-limit.ts';

/**
 * The HTTP+SSE transport of revision 2024-11-05: one stream for everything that the server says, opened by GET, whose
 * first event names the address that messages are posted to.
 */
export class OldSse {
  readonly session: Session;
  #plan: HttpPlan;
  #all = new AbortController();
  #endpoint: URL | null = null;
  #notices: Promise<unknown> = Promise.resolve();

  constructor(plan: HttpPlan) {
    this.#plan = plan;
    // One listener a message, and there may be many.
    setMaxListeners(0, this.#all.signal);
    this.session = new Session({
      name: plan.subject.name,
      clean: (text) => plan.subject.clean(text),
      send: (text, message) => this.#send(text, message),
      noise: (line) => plan.noise.add(line),
      stray: () => plan.stray(),
      notification: (method, params) => plan.notification(method, params),
      ...(plan.input && { input: (request: RawJson) => plan.input?.(request) ?? Promise.resolve(null) }),
    });
  }

  /**
   * Opens the stream.
   *
   * @param ms how long its first event is waited for, in milliseconds; none when left out
   * @returns false when what answers is no server of this transport
   * @throws McpError when the network fails, or the server names an address that messages must not go to
   */
  async open(ms?: number): Promise<boolean> {
    const { client, subject } = this.#plan;
    const answer = await client.send({
      method: 'GET',
      headers: { accept: 'text/event-stream' },
      signal: this.#all.signal,
      background: true,
    });
    if (answer.status !== 200 || contentType(answer.headers) !== 'text/event-stream') {
      answer.body.destroy();
      return false;
    }
    const first = new Promise<string | null>((resolve) => {
      void this.#read(answer, resolve).then((error) => {
        resolve(null);
        const opened = this.#endpoint !== null;
        this.session.end(error);
        if (opened) this.#plan.lost(this.session, error);
      });
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = timeLimit(ms, () => resolve(null));
    });
    const endpoint = await Promise.race([first, late]).finally(() => clearTimeout(timer));
    const { url } = this.#plan.target;
    if (endpoint === null) return false;
    const to = URL.canParse(endpoint, url.href) ? new URL(endpoint, url) : null;
    if (!to || to.origin !== url.origin) {
      const where = to ? shownUrl(to.href) : 'no URL';
      throw new McpError('mcp_no_endpoint', `${subject.name} wants messages at ${where}, which is another origin.`, {
        executed: 'not_executed',
        hint: 'Correct "url" of its entry, or what the server takes for its own address.',
      });
    }
    this.#endpoint = to;
    return true;
  }

  /** Nothing more comes over it. */
  get done(): boolean {
    return this.session.ended !== null;
  }

  async flushed(): Promise<void> {
    await this.#notices;
  }

  async stop(error: McpError): Promise<void> {
    this.#endpoint = null;
    this.session.end(error);
    this.#all.abort();
  }

  /** Reads the stream to its end. `first` is told of the first event: the address, or null when it names none. */
  async #read(answer: HttpAnswer, first: (endpoint: string | null) => void): Promise<McpError> {
    const { subject, maxFrameBytes, noise } = this.#plan;
    let opened = false;
    const reader = sseReader(maxFrameBytes, {
      event: ({ event, data }) => {
        if (!opened) {
          opened = true;
          first(event === 'endpoint' ? data : null);
        } else if (event === 'message') this.session.receive(data);
        else noise.add(`event: ${event}`);
      },
      garbage: (line) => noise.add(line),
    });
    try {
      for await (const chunk of answer.body) {
        if (reader.push(chunk as Buffer)) continue;
        answer.body.destroy();
        return answerTooLarge(subject, maxFrameBytes);
      }
    } catch (error) {
      return lost(subject, error instanceof Error ? error.message : 'the stream broke', error);
    }
    reader.end();
    return lost(subject, 'its stream ended');
  }

  #send(text: string, message: Outgoing): boolean {
    if (!this.#endpoint) return false;
    const posted = this.#post(this.#endpoint, text, message).catch((error: unknown) => {
      if (message.id !== undefined && error instanceof McpError) this.session.fail(message.id, error);
    });
    if (message.id === undefined) this.#notices = Promise.allSettled([this.#notices, posted]);
    return true;
  }

  async #post(url: URL, text: string, { id, method = '' }: Outgoing): Promise<void> {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const request = { method: 'POST' as const, url, headers, body: text, signal: this.#all.signal };
    const answer = await this.#plan.client.send(request);
    // The answer itself comes over the stream.
    if (answer.status >= 200 && answer.status < 300) answer.body.resume();
    else if (id === undefined) await readWords(answer);
    else await refuseByStatus(this.session, this.#plan.subject, { id, method, inSession: true }, answer);
  }
}
