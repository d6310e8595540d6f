import { BridleError } from '../tools/index.ts';
import type { Deadline } from './deadline.ts';
import { AnswerFailure } from './http-fetch.ts';
import { isObject, parseJson } from './json-shape.ts';
import { aborted, retryAfter, Transient } from './retry.ts';

/** Whom the errors speak of. */
export interface Endpoint {
  /** The model as the user named it. */
  readonly model: string;
  /** The base URL that requests go to. */
  readonly url: string;
  /** What to set when the key is missing or refused. */
  readonly keyHint: string;
}

/** How a request that didn't end in a reply is told apart from the others. */
interface HttpFailure {
  readonly status: number;
  readonly headers: Headers | undefined;
  /** The body as text, JSON or not. */
  readonly body: string;
}

const EXCERPT = 300;

/** Statuses of the kinds of error that are told where there is no HTTP status: inside a stream, or with HTTP 200. */
const STATUS_OF_KIND: ReadonlyMap<unknown, number> = new Map([
  ['invalid_request_error', 400],
  ['BadRequestError', 400],
  ['authentication_error', 401],
  ['invalid_api_key', 401],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['NotFoundError', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['api_error', 500],
  ['server_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

/** The HTTP status that an error object without one stands for; 500 for a kind that isn't known. */
export function statusOfError(error: unknown): number {
  if (!isObject(error)) return 500;
  const { code, type } = error;
  if (typeof code === 'number' && code >= 400 && code < 600) return code;
  return STATUS_OF_KIND.get(code) ?? STATUS_OF_KIND.get(type) ?? 500;
}

/** The base URL without what must not be printed. */
function printableUrl(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`.replace(/\/+$/, '');
  } catch {
    return url;
  }
}

/** One line of foreign text, short and without control characters. */
function excerpt(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return line.length > EXCERPT ? `${line.slice(0, EXCERPT)}…` : line;
}

/** The server's own words: `error.message`, `error`, `message` or `detail` of its JSON, else the text itself. */
function serverWords(body: string): string {
  const parsed = parseJson(body);
  if (!isObject(parsed)) return excerpt(body);
  const { error, message, detail } = parsed;
  for (const words of [isObject(error) ? error.message : error, message, detail]) {
    if (typeof words === 'string' && words.trim() !== '') return excerpt(words);
  }
  return excerpt(body);
}

/** What the provider calls this request, for whoever asks it about the error. */
function requestId({ headers, body }: HttpFailure): string {
  const parsed = parseJson(body);
  const inBody = isObject(parsed) && typeof parsed.request_id === 'string' ? parsed.request_id : '';
  return excerpt(headers?.get('request-id') ?? headers?.get('x-request-id') ?? inBody);
}

const CONNECT_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** The system's code for a failed connection, from however deep in the causes. */
function connectionCode(error: unknown): string | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 8; current = current.cause, depth += 1) {
    if ('code' in current && typeof current.code === 'string') return current.code;
    if (current instanceof AggregateError) {
      const inner = current.errors.map(connectionCode).find((code) => code !== undefined);
      if (inner !== undefined) return inner;
    }
  }
  return undefined;
}

/** Tells failures of the network from mistakes in this program. */
export function isConnectionError(error: unknown): boolean {
  // A `TypeError` speaks of the request, such as of a header that can be none.
  if (!(error instanceof Error) || error instanceof TypeError) return false;
  return error instanceof AnswerFailure || error.name === 'AbortError' || connectionCode(error) !== undefined;
}

/** The error for an attempt whose signal aborted: its own time ran out, or somebody stopped it. */
export function stopped(limit: Deadline, endpoint: Endpoint): BridleError {
  if (!limit.expired()) return aborted(limit.signal.reason);
  return new BridleError(
    'model_timeout',
    `The model ${endpoint.model} at ${printableUrl(endpoint.url)} gave ${limit.signal.reason instanceof Error ? limit.signal.reason.message : 'no reply in time'}.`,
    { hint: 'Raise timeoutMs for slow models, or ask for less in one turn.' },
  );
}

/**
 * A connection that could not be made, or broke. One that could not be made is tried only twice more: a server that
 * isn't there seldom comes back while one waits.
 */
export function connectionFailure(error: unknown, endpoint: Endpoint): Transient {
  const code = connectionCode(error);
  const url = printableUrl(endpoint.url);
  if (code !== undefined && CONNECT_CODES.has(code)) {
    return new Transient(
      `${url} can't be reached (${code})`,
      (attempts) =>
        new BridleError(
          'model_unreachable',
          `The model ${endpoint.model} can't be reached: ${url} did not accept a connection (${code}, ${times(attempts)}).`,
          {
            hint: 'Check the address and that its server runs, or use --model offline, which needs no network.',
            cause: error,
          },
        ),
      { maxRetries: 2 },
    );
  }
  const detail = code ?? (error instanceof Error ? excerpt(error.message) : 'no reason given');
  return new Transient(
    `the connection to ${url} broke (${detail})`,
    (attempts) =>
      new BridleError(
        'model_connection_lost',
        `The connection to the model ${endpoint.model} at ${url} broke before the reply was complete (${detail}, ${times(attempts)}).`,
        { hint: 'Try again; if it keeps happening, look at the proxy or server between here and there.', cause: error },
      ),
    { maxRetries: 3 },
  );
}

/** The reply stopped in the middle, without an error to show for it. */
export function cutReply(endpoint: Endpoint): Transient {
  return connectionFailure(new Error('the stream ended early'), endpoint);
}

/** What came back is no reply of this API. Not retried: a wrong address stays wrong. */
export function badAnswer(endpoint: Endpoint, contentType: string, body: string): BridleError {
  const kind = contentType.split(';')[0]?.trim() || 'an unnamed type';
  const shown = excerpt(body);
  return new BridleError(
    'model_bad_answer',
    `${printableUrl(endpoint.url)} answered with ${kind}, which is not a reply of a model${shown === '' ? '' : `: ${shown}`}`,
    { hint: 'Check the base URL: it may point at a web page, a proxy, or miss its /v1.' },
  );
}

/**
 * The error for an HTTP status: 408, 409, 429 and 5xx may be tried again (as may whatever the server marks with
 * `x-should-retry: true`), all others are final.
 */
export function statusFailure(failure: HttpFailure, endpoint: Endpoint): Transient | BridleError {
  const { status, headers } = failure;
  const words = serverWords(failure.body);
  const id = requestId(failure);
  const said = `${words === '' ? '' : ` It said: ${words}`}${id === '' ? '' : ` (request ${id})`}`;
  const url = printableUrl(endpoint.url);
  const retryMark = headers?.get('x-should-retry');
  const passing = status === 408 || status === 409 || status === 429 || status >= 500;
  if (retryMark === 'true' || (passing && retryMark !== 'false')) {
    const limited = status === 429;
    const what = limited ? 'rate limit reached' : status === 529 || status === 503 ? 'overloaded' : 'server error';
    return new Transient(
      `${what} (HTTP ${status})`,
      (attempts) =>
        new BridleError(
          limited ? 'model_rate_limited' : 'model_overloaded',
          `The model ${endpoint.model} at ${url} still answers HTTP ${status} (${what}, ${times(attempts)}).${said}`,
          { hint: limited ? 'Wait, or raise the limit with the provider.' : 'Try again later, or use another model.' },
        ),
      { retryAfterMs: retryAfter(headers) },
    );
  }
  if (status >= 300 && status < 400) {
    return new BridleError('model_bad_answer', `${url} redirects to another address (HTTP ${status}).`, {
      hint: 'Redirects are not followed, because they would carry the key along: set the base URL to the final address.',
    });
  }
  switch (status) {
    case 401:
      return new BridleError('model_key_refused', `${url} refused the key (HTTP 401).${said}`, {
        hint: endpoint.keyHint,
      });
    case 403:
      return new BridleError(
        'model_forbidden',
        `${url} does not let this key use ${endpoint.model} (HTTP 403).${said}`,
        { hint: 'Ask whoever owns the account for access, or name another model.' },
      );
    case 404:
      return new BridleError('model_not_found', `${url} has no model ${endpoint.model} (HTTP 404).${said}`, {
        hint: 'Check the model id and the base URL (OpenAI-compatible servers usually want one that ends in /v1).',
      });
    default:
      return new BridleError('model_request_refused', `${url} refused the request (HTTP ${status}).${said}`, {
        hint: 'The request itself must change; the trace of this run shows it.',
      });
  }
}

function times(attempts: number): string {
  return attempts === 1 ? 'tried once' : `tried ${attempts} times`;
}
