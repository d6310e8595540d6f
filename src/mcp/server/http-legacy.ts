import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Identity, Json } from '../../contracts/index.ts';
import { CODES, MODERN_REVISION } from '../wire/index.ts';
import { rpcErrorOf } from './answers.ts';
import type { EventStreams } from './event-stream.ts';
import { takesEvents } from './http-accept.ts';
import { HttpSession } from './http-session.ts';
import { agree, initialized } from './legacy-session.ts';
import { callerOf } from './peer.ts';
import { sendJson } from './post-reply.ts';
import { errorMessage, type Id, type Incoming, RpcError, readIncoming, resultMessage } from './rpc.ts';
import type { Served } from './served.ts';
import type { SessionIds } from './session-id.ts';

/** How long a session without a request or an open stream is held, in milliseconds. Its id is good for longer. */
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;
/** Sessions that are over, of which none is taken again. */
const MAX_ENDED = 100_000;
const SESSION = 'mcp-session-id';
const MAX_BATCH = 100;

/** The revisions up to 2025-11-25 over HTTP: a session for each `initialize`. */
export interface LegacyHttp {
  /** @param body the request's JSON; undefined for GET and DELETE */
  answer(request: IncomingMessage, response: ServerResponse, body: Json | undefined, who: Identity): Promise<void>;
  close(): void;
}

export function legacyHttp(
  served: Served,
  streams: EventStreams,
  { ids, maxSessions }: { readonly ids: SessionIds; readonly maxSessions: number },
): LegacyHttp {
  // Maps keep the order of insertion, and what is used moves to the end.
  const sessions = new Map<string, HttpSession>();
  const ended = new Set<string>();
  const sweeper = setInterval(() => {
    for (const [id, session] of sessions) if (!session.isBusy && session.idleMs > IDLE_MS) forget(id, session);
  }, SWEEP_MS);
  sweeper.unref();

  function forget(id: string, session: HttpSession): void {
    sessions.delete(id);
    session.close();
  }

  /** Ends the session that was idle longest, one of the caller's own if there is any. */
  function hasRoom(caller: string): boolean {
    if (sessions.size < maxSessions) return true;
    const idle = [...sessions].filter(([, session]) => !session.isBusy);
    const victim = idle.find(([, session]) => session.caller === caller) ?? idle[0];
    if (!victim) return false;
    markEnded(victim[1]);
    forget(...victim);
    return true;
  }

  function markEnded({ conversation }: HttpSession): void {
    ended.add(conversation);
    const [oldest] = ended;
    if (ended.size > MAX_ENDED && oldest !== undefined) ended.delete(oldest);
  }

  /** The session of this id, which another process may have begun. Someone else's looks like none. */
  function find(id: string, who: Identity): HttpSession | null {
    const caller = callerOf(who);
    const known = sessions.get(id);
    if (known) {
      if (known.caller !== caller) return null;
      sessions.delete(id);
      sessions.set(id, known);
      known.touch();
      return known;
    }
    const facts = ids.open(id);
    if (!facts || ended.has(facts.conversation) || facts.caller !== caller || !hasRoom(caller)) return null;
    const session = new HttpSession(served, streams, { who, ...facts });
    sessions.set(id, session);
    return session;
  }

  function open(
    response: ServerResponse,
    { id, params }: { id: Id; params: Parameters<typeof agree>[0] },
    who: Identity,
  ) {
    const caller = callerOf(who);
    try {
      const agreed = agree(params);
      if (!hasRoom(caller)) {
        refuse(response, 503, { id, code: CODES.internal, message: 'Too many sessions; try again later' });
        return;
      }
      const facts = { conversation: randomUUID(), caller, ...agreed };
      const sealed = ids.seal(facts);
      sessions.set(sealed, new HttpSession(served, streams, { who, ...facts }));
      sendJson(response, 200, resultMessage(id, initialized(served, agreed, who)), { [SESSION]: sealed });
    } catch (error) {
      sendJson(response, 200, errorMessage(id, rpcErrorOf('initialize', error)));
    }
  }

  async function post(request: IncomingMessage, response: ServerResponse, body: Json, session: HttpSession) {
    if (Array.isArray(body)) return batch(request, response, body, session);
    const message = readIncoming(body);
    switch (message.kind) {
      case 'request': {
        const reply = session.reply(response, takesEvents(request.headers.accept));
        return session.answer(message, reply);
      }
      case 'invalid':
        return refuse(response, 400, { id: message.id, code: CODES.invalidRequest, message: message.message });
      case 'notification':
      case 'response':
        session.take(message);
        response.writeHead(202).end();
        return;
      default:
        return message satisfies never;
    }
  }

  /** Revision 2025-03-26 alone: all answers come on one stream. */
  async function batch(
    request: IncomingMessage,
    response: ServerResponse,
    body: readonly Json[],
    session: HttpSession,
  ) {
    const refused = (message: string) => refuse(response, 400, { id: null, code: CODES.invalidRequest, message });
    if (session.revision !== '2025-03-26') return refused('Invalid Request: this revision has no batches');
    if (body.length === 0 || body.length > MAX_BATCH)
      return refused(`Invalid Request: a batch has 1 to ${MAX_BATCH} messages`);
    const messages = body.map(readIncoming);
    const invalid = messages.find((message) => message.kind === 'invalid');
    if (invalid) return refused(invalid.message);
    const requests = messages.filter((message): message is Extract<Incoming, { kind: 'request' }> => {
      if (message.kind === 'notification' || message.kind === 'response') session.take(message);
      return message.kind === 'request';
    });
    if (requests.length === 0) {
      response.writeHead(202).end();
      return;
    }
    if (!takesEvents(request.headers.accept)) return refuse(response, 406, NOT_ACCEPTABLE);
    await session.answerAll(requests, session.reply(response, true));
  }

  function get(request: IncomingMessage, response: ServerResponse, session: HttpSession): void {
    if (!takesEvents(request.headers.accept)) {
      refuse(response, 406, NOT_ACCEPTABLE);
      return;
    }
    if (streams.isFull) {
      refuse(response, 503, { id: null, code: CODES.internal, message: 'Too many open streams; try again later' });
      return;
    }
    const last = request.headers['last-event-id'];
    if (!session.listen(response, typeof last === 'string' ? last : undefined)) {
      // Not 404, which would say that the session is over.
      refuse(response, 400, { id: null, code: CODES.invalidRequest, message: 'Nothing is kept of that stream' });
    }
  }

  return {
    async answer(request, response, body, who) {
      const id = request.headers[SESSION];
      const version = request.headers['mcp-protocol-version'];
      if (typeof id !== 'string') {
        if (request.method !== 'POST' && version === MODERN_REVISION) {
          const error = new RpcError(
            CODES.invalidRequest,
            `Method not allowed: revision ${MODERN_REVISION} has POST alone`,
          );
          return sendJson(response, 405, errorMessage(null, error), { allow: 'POST' });
        }
        const message = readIncoming(body);
        if (message.kind === 'request' && message.method === 'initialize') return open(response, message, who);
        const known = message.kind === 'invalid' && request.method === 'POST';
        const why = known && !Array.isArray(body) ? message.message : 'Bad Request: no session; start with initialize';
        return refuse(response, 400, {
          id: 'id' in message ? message.id : null,
          code: CODES.invalidRequest,
          message: why,
        });
      }
      const session = find(id, who);
      if (!session) {
        return refuse(response, 404, { id: idOf(body), code: NO_SESSION, message: 'Session not found' });
      }
      if (version !== undefined && version !== session.revision && !isLenient(session.revision)) {
        const message = `Bad Request: the session speaks ${session.revision}, the header says ${String(version).slice(0, 40)}`;
        return refuse(response, 400, { id: idOf(body), code: CODES.invalidRequest, message });
      }
      if (request.method === 'GET') return get(request, response, session);
      if (request.method === 'DELETE') {
        markEnded(session);
        forget(id, session);
        response.writeHead(200).end();
        return;
      }
      return post(request, response, body ?? null, session);
    },
    close() {
      clearInterval(sweeper);
      for (const session of sessions.values()) session.close();
      sessions.clear();
    },
  };
}

/** Of the time before the specification had codes of its own; clients know it from the official SDK. */
const NO_SESSION = -32001;
const NOT_ACCEPTABLE = {
  id: null,
  code: CODES.invalidRequest,
  message: 'Not Acceptable: the client must accept text/event-stream',
} as const;

/** Of the request that a body is; null where there is none. */
function idOf(body: Json | undefined): Id | null {
  const message = readIncoming(body);
  return message.kind === 'request' || message.kind === 'invalid' ? message.id : null;
}

/** Revisions before 2025-06-18 had no header for theirs, and clients of those send whatever they like best. */
function isLenient(revision: string): boolean {
  return revision < '2025-06-18';
}

function refuse(
  response: ServerResponse,
  status: number,
  { id, code, message }: { readonly id: Id | null; readonly code: number; readonly message: string },
): void {
  sendJson(response, status, errorMessage(id, new RpcError(code, message)));
}
