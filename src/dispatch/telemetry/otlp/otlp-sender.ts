import { isJsonObject } from '../../../tools/index.ts';
import { errorText, shown } from '../../outcomes.ts';
import type { Destination } from './otlp-settings.ts';

/** Tries of one request, and the first wait between two, in milliseconds; each further one is twice as long. */
const TRIES = 3;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Answers that are worth another try, as the protocol says. */
const WORTH_ANOTHER: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Most of an answer that is read. */
const MOST_ANSWER = 16_384;

export interface SenderOptions {
  readonly destination: Destination;
  /** Ends everything, also what waits. */
  readonly signal: AbortSignal;
  /** Once aborted, nothing is waited for between two tries, and what fails is given up. */
  readonly hurry: AbortSignal;
  /** Told once why something didn't arrive. */
  onProblem(text: string): void;
  readonly fetch?: typeof globalThis.fetch;
}

/** Sends requests to one receiver. Never rejects; answers whether it arrived. */
export function otlpSender({ destination, signal, hurry, onProblem, fetch = globalThis.fetch }: SenderOptions) {
  let isTold = false;
  const tell = (why: string) => {
    if (isTold) return;
    isTold = true;
    onProblem(`Telemetry doesn't reach ${shown(new URL(destination.url).origin)}: ${why}.`);
  };
  return async (body: string): Promise<boolean> => {
    for (let nth = 1; ; nth += 1) {
      const answer = await attempt(destination, body, signal, fetch);
      if ('partial' in answer) {
        if (answer.partial !== undefined) tell(answer.partial);
        return true;
      }
      if (!answer.again || nth === TRIES || signal.aborted || hurry.aborted) {
        tell(answer.why);
        return false;
      }
      await pause(Math.min(LONGEST_WAIT_MS, answer.afterMs ?? FIRST_WAIT_MS * 2 ** (nth - 1)), hurry);
    }
  };
}

type Attempt =
  /** It arrived; `partial` tells what the receiver says against it. */
  | { readonly partial: string | undefined }
  | { readonly why: string; readonly again: boolean; readonly afterMs?: number };

async function attempt(
  { url, headers, timeoutMs }: Destination,
  body: string,
  signal: AbortSignal,
  fetch: typeof globalThis.fetch,
): Promise<Attempt> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      // The headers may hold a key, which is for this address alone.
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const text = await textOf(response);
    const { status } = response;
    if (status >= 200 && status < 300) return { partial: refusedPart(text) };
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    const why = status >= 300 && status < 400 ? `it sends on to another address (${status})` : `it answers ${status}`;
    return { why, again: WORTH_ANOTHER.has(status), ...(seconds >= 0 && { afterMs: seconds * 1000 }) };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { why: errorText(cause), again: true };
  }
}

/** What came of the request, as far as it is looked at. */
async function textOf({ body }: Response): Promise<string> {
  if (!body) return '';
  const decoder = new TextDecoder();
  let text = '';
  // Leaving the loop cancels the rest.
  for await (const part of body) {
    text += decoder.decode(part, { stream: true });
    if (text.length > MOST_ANSWER) return '';
  }
  return text;
}

/** `partialSuccess` of the answer: what the receiver left out, and why. */
function refusedPart(text: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    const part = isJsonObject(answer) ? answer.partialSuccess : undefined;
    if (!isJsonObject(part)) return undefined;
    const count = Number(part.rejectedSpans ?? part.rejectedDataPoints ?? 0);
    if (!(count > 0)) return undefined;
    return `it left out ${count} of what it was sent (${shown(part.errorMessage ?? 'without a reason')})`;
  } catch {
    return undefined;
  }
}

/** Resolves early when the signal is aborted. Never keeps the process alive. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms).unref();
    signal.addEventListener('abort', done);
  });
}
