import type { JsonObject } from '../../contracts/index.ts';
import { type ScriptedTurn, scriptedTurns, type TurnSource } from '../turn-source.ts';
import type { Exchange } from './exchange.ts';
import { fetchFrom } from './fetch.ts';
import { createHandler } from './handler.ts';
import { type HttpServer, serveHttp } from './serve-http.ts';
import type { Split } from './split.ts';

export interface MessagesDoubleOptions {
  /** Where replies come from: a script, or any `TurnSource`. */
  readonly turns: readonly ScriptedTurn[] | TurnSource;
  /** How streamed texts are cut into deltas; default `words`. */
  readonly split?: Split;
  /** The only key that is taken; default: any key, but some. */
  readonly key?: string;
  /** How many of the last exchanges are kept; default: all. */
  readonly keep?: number;
  /** Told of each request when its answer is known, before the answer is sent. */
  readonly onExchange?: (exchange: Exchange) => void;
}

export interface MessagesDouble {
  /** Answers in this process, for a client's `fetch` option; takes any host. */
  readonly fetch: typeof globalThis.fetch;
  /** Each request so far that is kept, in order of its answer. */
  readonly exchanges: readonly Exchange[];
  /** The bodies of the requests that were answered with a reply, as they were sent. */
  readonly requests: readonly JsonObject[];
  /**
   * Listens on loopback.
   *
   * @param options.port default: any that is free
   * @returns the base URL, e.g. for `ANTHROPIC_BASE_URL`
   */
  start(options?: { readonly port?: number }): Promise<string>;
  /** Ends it; open connections are closed. Does nothing where it doesn't listen. */
  stop(): Promise<void>;
}

/**
 * A double of the Messages API: `/v1/messages`, streamed and not, `/v1/messages/count_tokens` and `/v1/models`. It
 * refuses what the API is documented to refuse (`MESSAGES_REQUEST_RULES`), with its statuses and close to its words,
 * and replies from a script, from recorded bodies, or from a model. Nothing of it needs a key or the network.
 *
 * @param options see `MessagesDoubleOptions`
 *
 * @example
 * const double = messagesDouble({ turns: ['Hello.'] });
 * const client = new Anthropic({ apiKey: 'any', baseURL: 'http://double', fetch: double.fetch });
 */
export function messagesDouble(options: MessagesDoubleOptions): MessagesDouble {
  const exchanges: Exchange[] = [];
  const keep = options.keep ?? Number.POSITIVE_INFINITY;
  const handler = createHandler({
    source: isSource(options.turns) ? options.turns : scriptedTurns(options.turns),
    split: options.split ?? 'words',
    key: options.key,
    onExchange(exchange) {
      if (keep > 0) exchanges.push(structuredClone(exchange));
      if (exchanges.length > keep) exchanges.shift();
      options.onExchange?.(exchange);
    },
  });
  let server: HttpServer | undefined;
  return {
    fetch: fetchFrom(handler),
    exchanges,
    get requests() {
      return exchanges.flatMap(({ body, reply }) => (body !== null && reply !== undefined ? [body] : []));
    },
    async start({ port = 0 } = {}) {
      server ??= await serveHttp(handler, port);
      return server.url;
    },
    async stop() {
      const running = server;
      server = undefined;
      await running?.close();
    },
  };
}

function isSource(turns: MessagesDoubleOptions['turns']): turns is TurnSource {
  return 'next' in turns;
}
