import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type { Identity, Json, JsonObject } from '../../contracts/index.ts';
import { Cancellation } from '../../tools/index.ts';
import { CODES, frameReader } from '../wire/index.ts';
import { rpcErrorOf } from './answers.ts';
import { isDeeperThan, MAX_DEPTH } from './json-text.ts';
import type { KeptText } from './kept-text.ts';
import { agree, initialized, LegacySession } from './legacy-session.ts';
import { type Listening, listen } from './listening.ts';
import { discovered, envelopeOf, modernExchange, versionIn } from './modern.ts';
import {
  answerMessage,
  errorMessage,
  type Id,
  type Incoming,
  notificationMessage,
  RpcError,
  readIncoming,
} from './rpc.ts';
import type { Served } from './served.ts';

/** Longest message read from a client, in bytes. */
const MAX_FRAME_BYTES = 10 * 1024 * 1024;
/** What may wait for a client that doesn't read, in bytes: beyond it, nothing more is read from it. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** What makes a client that doesn't read lose its connection, in bytes. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** Most streams of changes of one client. */
const MAX_STREAMS = 1000;

type Request = Extract<Incoming, { kind: 'request' }>;

/**
 * One client over a pair of byte streams, a message a line (MCP, stdio), in whichever era each of its messages is: those
 * that carry their own metadata stand for themselves, `initialize` opens the one session that the connection can have.
 */
export interface LinePeer {
  /** Cancels what runs and ends the streams of changes. Nothing is said after it. */
  close(): void;
}

/**
 * @param input what the client says; read until it ends
 * @param onGone the client can't be spoken to any more
 */
export function linePeer(
  served: Served,
  { input, output, who }: { readonly input: Readable; readonly output: Writable; readonly who: Identity },
  onGone: () => void,
): LinePeer {
  const conversation = randomUUID();
  const { answers } = served;
  const running = new Map<Id, Set<Cancellation>>();
  const streams = new Map<Id, Listening>();
  let session: LegacySession | undefined;
  let closed = false;

  const send = (message: string): boolean => {
    if (closed) return false;
    output.write(`${message}\n`);
    if (output.writableLength > MAX_HELD_BYTES) onGone();
    else if (output.writableLength > MAX_UNREAD_BYTES) input.pause();
    return true;
  };
  const onDrain = () => void input.resume();
  output.on('drain', onDrain);

  /** @returns the message that answers it, or null where none is due */
  const answer = async (request: Request): Promise<string | null> => {
    const { id, method } = request;
    try {
      const result = await resultOf(request);
      return result === null ? null : answerMessage(id, result);
    } catch (error) {
      return errorMessage(id, rpcErrorOf(method, error));
    }
  };

  const resultOf = async (request: Request): Promise<string | KeptText | RpcError | null> => {
    const { method, params } = request;
    if (versionIn(params) !== undefined || method === 'server/discover') return modern(request);
    if (method === 'initialize' && !session) {
      const agreed = agree(params);
      session = new LegacySession(served, { who, conversation, agreed }, send);
      return initialized(served, agreed, who);
    }
    if (method === 'ping' && !session) return '{}';
    if (!session) {
      const why = 'Invalid Request: start with initialize, or say in _meta which revision this is';
      return new RpcError(CODES.invalidRequest, why);
    }
    return session.answer(request, { send });
  };

  const modern = async ({ id, method, params }: Request): Promise<string | KeptText | RpcError | null> => {
    const envelope = envelopeOf(params);
    if (method === 'server/discover') return discovered(served, who);
    if (method === 'subscriptions/listen') {
      if (streams.size >= MAX_STREAMS) {
        return new RpcError(CODES.internal, `Too many open streams: a connection has at most ${MAX_STREAMS}`);
      }
      streams.get(id)?.stop();
      streams.set(id, listen(served, { id, params, who }, send));
      return null;
    }
    const cancel = new Cancellation();
    const same = running.get(id) ?? new Set();
    same.add(cancel);
    running.set(id, same);
    const notify = (told: string, about: JsonObject) => {
      if (!cancel.aborted) send(notificationMessage(told, about));
    };
    try {
      const exchange = modernExchange(who, envelope, { signal: cancel, notify, conversation });
      const result = await answers.answer(method, params, exchange);
      return cancel.aborted ? null : result;
    } finally {
      same.delete(cancel);
      if (same.size === 0) running.delete(id);
    }
  };

  const notified = (method: string, params: JsonObject) => {
    session?.notified(method, params);
    if (method !== 'notifications/cancelled') return;
    const { requestId } = params;
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    for (const one of running.get(requestId) ?? []) one.abort();
    streams.get(requestId)?.stop();
    streams.delete(requestId);
  };

  /** @returns the message that answers it, or null */
  const take = async (value: Json): Promise<string | null> => {
    const message = readIncoming(value);
    switch (message.kind) {
      case 'request':
        return answer(message);
      case 'notification':
        notified(message.method, message.params);
        return null;
      case 'response':
        session?.answered(message);
        return null;
      case 'invalid':
        return errorMessage(message.id, new RpcError(CODES.invalidRequest, message.message));
      default:
        return message satisfies never;
    }
  };

  const receive = async (line: string): Promise<void> => {
    // Of one chunk, what comes after the line that ended it.
    if (closed) return;
    if (isDeeperThan(line, MAX_DEPTH)) {
      send(errorMessage(null, new RpcError(CODES.parse, `Parse error: nested more than ${MAX_DEPTH} levels deep`)));
      return;
    }
    let value: Json;
    try {
      value = JSON.parse(line) as Json;
    } catch {
      send(errorMessage(null, new RpcError(CODES.parse, 'Parse error: the line is not JSON')));
      return;
    }
    // Batches are of revision 2025-03-26 alone.
    if (Array.isArray(value) && value.length > 0 && session?.agreed.revision === '2025-03-26') {
      const given = (await Promise.all(value.map(take))).filter((message) => message !== null);
      if (given.length > 0) send(`[${given.join(',')}]`);
      return;
    }
    const given = await take(value);
    if (given !== null) send(given);
  };

  const frames = frameReader(MAX_FRAME_BYTES, (line) => void receive(line));
  const onData = (chunk: Buffer) => {
    if (frames.push(chunk)) return;
    // What follows can't be told from the rest of the line that was too long.
    send(errorMessage(null, new RpcError(CODES.parse, `Parse error: a line of more than ${MAX_FRAME_BYTES} bytes`)));
    onGone();
  };
  input.on('data', onData);

  return {
    close() {
      if (closed) return;
      for (const stream of streams.values()) stream.end();
      closed = true;
      input.off('data', onData);
      output.off('drain', onDrain);
      session?.close();
      for (const same of running.values()) for (const one of same) one.abort();
    },
  };
}
