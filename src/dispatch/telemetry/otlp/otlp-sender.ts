import { isJsonObject } from '../../../tools/index.ts';
import { errorText, shown } from '../../outcomes.ts';
import type { Destination } from './otlp-settings.ts';
import type { Poster } from './post.ts';

/** Tries of one request, and the first wait between two, in milliseconds; each further one is twice as long. */
const TRIES = 3;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** Answers that are worth another try, as the protocol says. */
const WORTH_ANOTHER: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export interface SenderOptions {
  readonly destination: Destination;
  /** Ends everything, also what waits. */
  readonly signal: AbortSignal;
  /** Once aborted, nothing is waited for between two tries, and what fails is given up. */
  readonly hurry: AbortSignal;
  /** Told once why something didn't arrive. */
  onProblem(text: string): void;
  readonly poster: Poster;
}

/** Sends requests to one receiver. Never rejects; answers whether it arrived. */
export function otlpSender({ destination, signal, hurry, onProblem, poster }: SenderOptions) {
  let isTold = false;
  const tell = (why: string) => {
    if (isTold) return;
    isTold = true;
    onProblem(`Telemetry doesn't reach ${shown(new URL(destination.url).origin)}: ${why}.`);
  };
  return async (body: string): Promise<boolean> => {
    for (let nth = 1; ; nth += 1) {
      const answer = await attempt(poster, body, signal);
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

async function attempt(poster: Poster, body: string, signal: AbortSignal): Promise<Attempt> {
  try {
    const { status, retryAfter, text } = await poster.post(body, signal);
    if (status >= 200 && status < 300) return { partial: refusedPart(text) };
    const seconds = Number(retryAfter ?? Number.NaN);
    const why = status >= 300 && status < 400 ? `it sends on to another address (${status})` : `it answers ${status}`;
    return { why, again: WORTH_ANOTHER.has(status), ...(seconds >= 0 && { afterMs: seconds * 1000 }) };
  } catch (error) {
    return { why: errorText(error), again: true };
  }
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
