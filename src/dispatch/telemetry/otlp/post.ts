import { Agent, globalAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import type { Destination } from './otlp-settings.ts';

/** Most of an answer that is read, in characters. */
const MOST_ANSWER = 16_384;
/** How long a connection is kept for the next request: shorter than servers do, so that none is used as it closes. */
const KEPT_MS = 4_000;

export interface Posted {
  readonly status: number;
  /** As the receiver says it. */
  readonly retryAfter: string | undefined;
  /** Empty where it is too long. */
  readonly text: string;
}

/** Posts to one receiver. */
export interface Poster {
  /** @throws Error when the network fails, nobody answers in time, or the signal is aborted: then with its reason */
  post(body: string, signal: AbortSignal): Promise<Posted>;
  /** Ends all connections. */
  close(): void;
}

/**
 * Posts on Node's own `http` and `https`, with connections that are kept. A request that is given up leaves nothing behind;
 * one of `fetch` goes on with its connection for up to ten seconds, and so does the process. Redirects aren't followed: the
 * headers may hold a key, which is for this address alone.
 *
 * @param agent makes the connections; for tests
 */
export function poster({ url, headers, timeoutMs }: Destination, agent: Agent = agentFor(url)): Poster {
  const start = url.startsWith('https:') ? httpsRequest : httpRequest;
  const once = (body: string, signal: AbortSignal, isAgain: boolean): Promise<Posted> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) throw signal.reason;
      const own = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
      const message = start(url, { method: 'POST', headers: { ...headers, ...own }, agent });
      const giveUp = (why: unknown) => {
        reject(why);
        message.destroy();
      };
      const onAbort = () => giveUp(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      const timer = setTimeout(() => giveUp(new Error(`it doesn't answer within ${timeoutMs} ms`)), timeoutMs);
      let isAnswered = false;
      message.on('response', (answer) => {
        isAnswered = true;
        const { statusCode: status = 0 } = answer;
        const retryAfter = answer.headers['retry-after'];
        textOf(answer).then((text) => resolve({ status, retryAfter, text }), reject);
      });
      message.on('error', (error) => {
        // The other side closed what was kept just when it was needed.
        if (message.reusedSocket && !isAnswered && !isAgain) resolve(once(body, signal, true));
        else reject(error);
      });
      message.on('close', () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        if (!isAnswered) reject(new Error('the connection ended without an answer'));
      });
      message.end(body);
    });
  return {
    post: (body, signal) => once(body, signal, false),
    close: () => agent.destroy(),
  };
}

function agentFor(url: string): Agent {
  // What Node itself was told of proxies (NODE_USE_ENV_PROXY), in the versions that know of it.
  const { proxyEnv } = (globalAgent as { readonly options?: { readonly proxyEnv?: object } }).options ?? {};
  const options = { keepAlive: true, timeout: KEPT_MS, ...(proxyEnv && { proxyEnv }) };
  return url.startsWith('https:') ? new TlsAgent(options) : new Agent(options);
}

/** What came of the request, as far as it is looked at. */
async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  // Leaving the loop ends the rest.
  for await (const part of answer.setEncoding('utf8')) {
    text += String(part);
    if (text.length > MOST_ANSWER) return '';
  }
  return text;
}
