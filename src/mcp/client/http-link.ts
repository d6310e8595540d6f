import type { Json, JsonObject, RawJson } from '../../contracts/index.ts';
import { CODES } from '../wire/index.ts';
import type { McpError } from './errors.ts';
import type { HttpAnswer, HttpClient } from './http-client.ts';
import { contentType, readBody } from './http-client.ts';
import { type Came, type HttpSubject, sessionExpired, statusError } from './http-errors.ts';
import type { HttpTarget } from './http-target.ts';
import { type Message, readMessages } from './message.ts';
import type { NoiseLog } from './noise-log.ts';
import type { Session } from './session.ts';

/** What each HTTP transport of a connection has in common. */
export interface HttpPlan {
  readonly subject: HttpSubject;
  readonly target: HttpTarget;
  readonly client: HttpClient;
  /** Bytes. */
  readonly maxFrameBytes: number;
  readonly capabilities: JsonObject;
  readonly noise: NoiseLog;
  stray(): void;
  notification(method: string, params: RawJson): void;
  input?(request: RawJson): Promise<Json>;
  /** After how much silence of a stream of notifications the server is asked whether it is there. Milliseconds. */
  readonly silenceMs: number;
  /** How long its answer to that is waited for. Milliseconds. */
  readonly probeMs: number;
  /** Changes may have been told to nobody. */
  missed(): void;
  /** The link is of no use any more. */
  lost(session: Session, error: McpError): void;
}

/** How much of an answer that isn't the one hoped for is read, in bytes. */
const MAX_WORDS = 64 * 1024;

/** What came back instead of an answer, as far as it can be read. */
export async function readWords(answer: HttpAnswer): Promise<Came> {
  const type = contentType(answer.headers);
  // A stream may go on for ever.
  if (type === 'text/event-stream') answer.body.destroy();
  const text = answer.body.destroyed ? '' : await readBody(answer.body, MAX_WORDS, true).catch(() => '');
  return { status: answer.status, type, text: text ?? '' };
}

/** The JSON-RPC error in a body, whichever id it has. */
export function errorIn(text: string): Extract<Message, { kind: 'error' }> | undefined {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return undefined;
  return readMessages(text.trim())?.find((message) => message.kind === 'error');
}

/** What older servers say of a session that they don't know, when they don't say it by HTTP 404. */
const NO_SESSION = /session|not initialized/i;

/**
 * Ends a request whose answer had a status that is no success.
 *
 * @param inSession whether the request named a session
 */
export async function refuseByStatus(
  session: Session,
  subject: HttpSubject,
  request: { readonly id: number; readonly method: string; readonly inSession: boolean },
  answer: HttpAnswer,
): Promise<void> {
  const { id, method } = request;
  const came = await readWords(answer);
  const { status } = came;
  if (status === 401 || status === 403) {
    session.fail(id, statusError(subject, method, came, answer.headers['www-authenticate']));
    return;
  }
  const error = errorIn(came.text);
  const unknownMethod = error?.code === CODES.unknownMethod;
  const noSession = status === 404 ? !unknownMethod : status === 400 && error !== undefined && isNoSession(error);
  if (request.inSession && noSession) session.fail(id, sessionExpired(subject, status));
  else if (error) session.refuse(id, error, { status, ...(status < 500 && { executed: 'not_executed' }) });
  else session.fail(id, statusError(subject, method, came, undefined));
}

function isNoSession({ code, message }: Extract<Message, { kind: 'error' }>): boolean {
  return (code === -32000 || code === -32001 || code === CODES.invalidRequest) && NO_SESSION.test(message);
}

/** Waits, unless the signal fires. Never keeps the process alive. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms).unref();
    signal.addEventListener('abort', done, { once: true });
  });
}
