import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Identity, ToolDefinition, ToolHost } from '../../contracts/index.ts';
import { Cancellation } from '../../tools/index.ts';
import { CODES } from '../wire/index.ts';
import { rpcErrorOf } from './answers.ts';
import type { EventStreams } from './event-stream.ts';
import { checkHeaders, checkParamHeaders } from './header-checks.ts';
import { takesEvents } from './http-accept.ts';
import { type Listening, listen } from './listening.ts';
import { discovered, type Envelope, envelopeOf, modernExchange } from './modern.ts';
import { type MessageSink, PostReply, sendJson } from './post-reply.ts';
import { errorMessage, type Incoming, notificationMessage, RpcError, resultMessage } from './rpc.ts';
import type { Served } from './served.ts';

type Request = Extract<Incoming, { kind: 'request' }>;

/** Errors that a client of 2026-07-28 reads off the HTTP status as well; all others are answered with 200. */
const STATUS_OF: ReadonlyMap<number, number> = new Map([
  [CODES.unknownMethod, 404],
  [CODES.headerMismatch, 400],
  [CODES.missingCapability, 400],
  [CODES.unsupportedVersion, 400],
]);

/** Requests of 2026-07-28 over HTTP: each stands for itself, and ends with its response. */
export interface ModernHttp {
  answer(request: IncomingMessage, response: ServerResponse, message: Incoming, who: Identity): Promise<void>;
  /** Ends the streams of changes as the protocol wants it. */
  close(): void;
}

export function modernHttp(served: Served, streams: EventStreams): ModernHttp {
  const { service, answers } = served;
  const listening = new Set<Listening>();
  const running = new Set<Cancellation>();

  const refuse = (response: ServerResponse, message: Incoming, error: RpcError, status: number) => {
    const id = message.kind === 'request' || message.kind === 'invalid' ? message.id : null;
    sendJson(response, status, errorMessage(id, error));
  };

  const openStream = (response: ServerResponse): MessageSink => {
    const stream = streams.begin(response);
    return { send: (text) => stream.send(text), end: () => stream.end() };
  };

  const startListening = (response: ServerResponse, { id, params }: Request, who: Identity): void => {
    if (streams.isFull) {
      const busy = new RpcError(CODES.internal, 'Too many open streams; try again later');
      sendJson(response, 503, errorMessage(id, busy), { 'retry-after': '5' });
      return;
    }
    const said: string[] = [];
    let stream: MessageSink | undefined;
    // A filter that is none is answered with an error, so the stream begins after it was read.
    const one = listen(served, { id, params, who }, (text) => {
      if (stream) stream.send(text);
      else said.push(text);
    });
    stream = openStream(response);
    for (const text of said) stream.send(text);
    const opened = stream;
    const ending: Listening = {
      stop: one.stop,
      end() {
        one.end();
        opened.end();
      },
    };
    listening.add(ending);
    response.once('close', () => {
      one.stop();
      listening.delete(ending);
    });
  };

  const run = async (
    response: ServerResponse,
    { id, method, params }: Request,
    {
      who,
      envelope,
      takesStream,
    }: { readonly who: Identity; readonly envelope: Envelope; readonly takesStream: boolean },
  ): Promise<void> => {
    const cancel = new Cancellation();
    running.add(cancel);
    // Closing the stream is how a request is cancelled (Streamable HTTP, "Cancellation").
    response.once('close', () => {
      if (!response.writableFinished) cancel.abort();
    });
    const reply = new PostReply(response, takesStream && !streams.isFull ? () => openStream(response) : null);
    const exchange = modernExchange(who, envelope, {
      signal: cancel,
      notify(told, about) {
        if (!cancel.aborted) reply.send(notificationMessage(told, about));
      },
    });
    const result = await answers.answer(method, params, exchange);
    running.delete(cancel);
    reply.answer(id, result, result instanceof RpcError ? STATUS_OF.get(result.code) : undefined);
  };

  return {
    async answer(request, response, message, who) {
      if (message.kind === 'notification') {
        // The one that there was, to cancel, is the end of the connection here.
        response.writeHead(202).end();
        return;
      }
      if (message.kind !== 'request') {
        const what =
          message.kind === 'invalid' ? message.message : 'Invalid Request: a server asks nothing in this revision';
        return refuse(response, message, new RpcError(CODES.invalidRequest, what), 400);
      }
      const { headers } = request;
      try {
        checkHeaders(headers, message.method, message.params);
        const envelope = envelopeOf(message.params);
        if (message.method === 'tools/call') {
          const { name, arguments: args = {} } = message.params;
          if (typeof name === 'string') checkParamHeaders(headers, toolNamed(service.host, name, who), args);
        }
        if (message.method === 'server/discover') {
          return sendJson(response, 200, resultMessage(message.id, discovered(served, who)));
        }
        if (message.method === 'subscriptions/listen') return startListening(response, message, who);
        return await run(response, message, { who, envelope, takesStream: takesEvents(headers.accept) });
      } catch (error) {
        return refuse(response, message, rpcErrorOf(message.method, error), 400);
      }
    },
    close() {
      for (const one of listening) one.end();
      for (const one of running) one.abort();
    },
  };
}

function toolNamed(host: ToolHost, name: string, who: Identity): ToolDefinition | undefined {
  return host.find ? host.find(name, who) : host.list(who).find(({ ref }) => ref.name === name);
}
