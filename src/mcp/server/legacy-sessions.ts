import { randomUUID } from 'node:crypto';
import type { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { Identity, ToolHost } from '../../contracts/index.ts';
import { isObject } from './is-object.ts';
import type { Sdk } from './peer.ts';
import { createServer } from './relay.ts';
import { tellContentChanged } from './serve-content.ts';

/** How long a session without a request or an open stream is kept, in milliseconds, and how many are kept at most. */
const IDLE_MS = 30 * 60_000;
const MAX_SESSIONS = 1_000;

interface Session {
  readonly caller: string;
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Ids of the requests in flight whose response has only their own answer: those of no batch. */
  readonly alone: Set<unknown>;
  /** Responses being written; a session is idle only when there is none. */
  busy: number;
  lastUsed: number;
}

export interface LegacySessions {
  /** @param body the request's JSON, already parsed; undefined for GET and DELETE */
  handle(request: Request, body: unknown, who: Identity): Promise<{ response: Response; done(): void }>;
  toolsChanged(): void;
  contentChanged(): void;
  close(): Promise<void>;
}

/** Revisions up to 2025-11-25: a session per `initialize`, so that cancellation, progress and list changes find it. */
export function legacySessions(sdk: Sdk, host: ToolHost, maxSessions = MAX_SESSIONS): LegacySessions {
  const sessions = new Map<string, Session>();
  const sweeper = setInterval(() => {
    for (const [id, session] of sessions) if (isIdle(session)) end(id, session);
  }, 60_000);
  sweeper.unref();

  function isIdle(session: Session): boolean {
    return session.busy === 0 && Date.now() - session.lastUsed > IDLE_MS;
  }

  function end(id: string, session: Session): void {
    sessions.delete(id);
    void session.server.close().catch(() => undefined);
  }

  /** Ends the session that was idle longest, one of the caller's own if there is any. */
  function makeRoom(caller: string): boolean {
    if (sessions.size < maxSessions) return true;
    // Maps keep the order of insertion, and `touch` moves what is used to the end.
    const idle = [...sessions].filter(([, { busy }]) => busy === 0);
    const victim = idle.find(([, session]) => session.caller === caller) ?? idle[0];
    if (victim) end(...victim);
    return victim !== undefined;
  }

  function touch(id: string, session: Session): void {
    session.lastUsed = Date.now();
    sessions.delete(id);
    sessions.set(id, session);
  }

  async function open(who: Identity): Promise<WebStandardStreamableHTTPServerTransport> {
    const server = createServer(sdk, host, { who, conversation: randomUUID(), era: 'legacy' });
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized(id) {
        sessions.set(id, { caller: callerOf(who), server, transport, alone: new Set(), busy: 0, lastUsed: Date.now() });
      },
      onsessionclosed(id) {
        sessions.delete(id);
      },
    });
    await server.connect(transport);
    return transport;
  }

  return {
    async handle(request, body, who) {
      const id = request.headers.get('mcp-session-id');
      const caller = callerOf(who);
      if (id === null) {
        if (!opensSession(body)) return answered(400, -32600, 'Bad Request: no session; start with initialize');
        if (!makeRoom(caller)) return answered(503, -32000, 'Too many sessions; try again later');
        const transport = await open(who);
        const response = await transport.handleRequest(request, { parsedBody: body });
        // An initialize that was refused opened no session, and its server is forgotten with this closure.
        return { response, done() {} };
      }
      const session = sessions.get(id);
      // Someone else's session looks like none: a session id is no proof of who sends it.
      if (session === undefined || session.caller !== caller) return answered(404, -32001, 'Session not found');
      touch(id, session);
      session.busy += 1;
      const requestId = isObject(body) && typeof body.method === 'string' ? body.id : undefined;
      if (requestId !== undefined) session.alone.add(requestId);
      const done = () => {
        session.alone.delete(requestId);
        session.busy -= 1;
        session.lastUsed = Date.now();
      };
      try {
        const options = body === undefined ? {} : { parsedBody: body };
        const response = await session.transport.handleRequest(request, options);
        endCancelled(session, body);
        return { response, done };
      } catch (error) {
        done();
        throw error;
      }
    },
    toolsChanged() {
      for (const { server } of sessions.values()) void server.sendToolListChanged().catch(() => undefined);
    },
    contentChanged() {
      for (const { server } of sessions.values()) tellContentChanged(server);
    },
    async close() {
      clearInterval(sweeper);
      await Promise.allSettled([...sessions.values()].map(({ server }) => server.close()));
      sessions.clear();
    },
  };
}

function opensSession(body: unknown): boolean {
  return isObject(body) && body.method === 'initialize';
}

/** A cancelled request has no answer, so nothing else would ever end its stream. */
function endCancelled({ transport, alone }: Session, body: unknown): void {
  if (!isObject(body) || body.method !== 'notifications/cancelled' || !isObject(body.params)) return;
  const { requestId } = body.params;
  const isId = typeof requestId === 'string' || typeof requestId === 'number';
  if (isId && alone.has(requestId)) transport.closeSSEStream(requestId);
}

/** Whoever may do something else is someone else: a session keeps what its caller could when it was opened. */
function callerOf({ agent, user, via, scopes }: Identity): string {
  return JSON.stringify([agent, user ?? null, via, scopes ? [...scopes].sort() : null]);
}

function answered(status: number, code: number, message: string): { response: Response; done(): void } {
  return { response: Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status }), done() {} };
}
