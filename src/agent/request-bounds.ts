import type { JsonObject } from '../contracts/index.ts';
import type { RequestSize } from './request-size.ts';
import type { Ending } from './state.ts';

/** Messages API: most messages, most tools, and most bytes of a request. */
const MOST_MESSAGES = 100_000;
const MOST_TOOLS = 10_000;
const MOST_BYTES = 32 * 1024 * 1024;
/** Fewer characters can't have more bytes: a UTF-16 unit has at most three. */
const SURELY_FEWER = MOST_BYTES / 4;

/** Why a request is larger than the API takes, as the end of its run; null when it isn't. */
export function tooLarge(body: JsonObject, size: RequestSize): Ending | null {
  const { messages, tools, definitions, system, conversation } = size;
  const what =
    messages > MOST_MESSAGES
      ? `${messages} messages, of which the API takes ${MOST_MESSAGES}`
      : tools > MOST_TOOLS
        ? `${tools} tools, of which the API takes ${MOST_TOOLS}`
        : definitions + system + conversation > SURELY_FEWER && Buffer.byteLength(JSON.stringify(body)) > MOST_BYTES
          ? `more than ${MOST_BYTES} bytes, which is the most that the API takes`
          : null;
  if (what === null) return null;
  return {
    how: 'failed',
    reason: 'request_too_large',
    message: `The next request would have ${what}. It was not sent.`,
    hint: 'Keep the conversation short with the option context, or offer fewer tools.',
  };
}
