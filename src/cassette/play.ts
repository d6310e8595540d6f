import type {
  Asker,
  AskReply,
  Connection,
  ConnectionEra,
  Executed,
  Json,
  Model,
  ServerRef,
} from '../contracts/index.ts';
import { McpError } from '../mcp/client/index.ts';
import { BridleError, printable, rawJson } from '../tools/index.ts';
import { type CassetteEntry, type CassetteHeader, type RecordedError, readCassette } from './entries.ts';
import { matcher } from './matcher.ts';
import { type Normalise, normaliser } from './normalise.ts';
import { playedModels } from './played-models.ts';

type Of<T extends CassetteEntry['type']> = Extract<CassetteEntry, { readonly type: T }>;

/** A recorded server: it has answers, and no process or address. */
export interface PlayedConnection extends Connection {
  /** What the server said of itself. */
  readonly about: Json;
  /** The limits of its entry. */
  readonly limits: Json;
}

/** Plays what was recorded to a run that does the same again. Nothing is sent anywhere. */
export interface CassettePlayer {
  readonly header: CassetteHeader;
  /** What the recorded run was given to begin with, where it was recorded. */
  readonly input: Json | undefined;
  /** The recorded servers. */
  readonly servers: readonly ServerRef[];
  /**
   * A recorded model; its `respond` throws `cassette_diverged`.
   *
   * @param of the agent that is started with it, and the `Model.id` it has now; default: the recorded one. Without `of`: the
   *   model of the run, and of agents that have the same
   */
  model(of?: PlayedAgent): Model;
  /** A recorded server; its `request` rejects with `cassette_diverged`, and the model's next one says so too. */
  connection(server: string): PlayedConnection;
  /** Answers as whoever was asked did. */
  asker(): Asker;
  /** The first thing that was not as recorded. */
  divergence(): BridleError | undefined;
  /** How many recorded exchanges nobody asked for, lists of what servers have left out. */
  left(): number;
}

/** An agent that is started with a model of its own. */
export interface PlayedAgent {
  readonly agent: string;
  readonly model?: string;
}

export interface PlayOptions {
  /**
   * Where the folders that the recording names are now, by the same names; or what tells so at the first request. Default:
   * where they were.
   */
  readonly paths?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>);
}

/**
 * Opens a cassette for playing. Each request to the model and each request to a server has to be one that was recorded,
 * once ids, times, folders and progress tokens are made alike; each recorded one answers once. Lists of what a server has
 * may be asked for again.
 *
 * @throws BridleError `cassette_not_readable`
 */
export async function playCassette(file: string, options: PlayOptions = {}): Promise<CassettePlayer> {
  const { header, entries } = await readCassette(file);
  const then = normaliser(header.paths);
  let made: Normalise | undefined;
  const now: Normalise = (value) => {
    const { paths } = options;
    made ??= normaliser({ ...header.paths, ...(typeof paths === 'function' ? paths() : paths) });
    return made(value);
  };
  const ofType = <T extends CassetteEntry['type']>(type: T) =>
    entries.filter((entry): entry is Of<T> => entry.type === type);
  const lastReply = ofType('messages').at(-1)?.n ?? 0;
  /** Where nothing came of it any more, the recorded run was stopped: to wait as it did would never end. */
  const wentOn = (entry: Of<'asked'> | Of<'mcp'>) => !isGivenUp(entry) || entry.n < lastReply;
  const servers = new Map(ofType('server').map((entry) => [entry.server.key, entry]));
  let diverged: BridleError | undefined;
  const diverge = (what: string, found: string): BridleError => {
    const error = new BridleError('cassette_diverged', `${what} is not as it was recorded:\n${found}`, {
      hint: 'If that is how it is meant to be now, record the cassette anew.',
    });
    diverged ??= error;
    return error;
  };
  const models = playedModels(header.model, ofType('messages'), then, now);
  const asked = matcher(ofType('asked').filter(wentOn), ({ tool, args }) => ({ tool, args }), then, now);
  const requests = matcher(
    ofType('mcp').filter(wentOn),
    ({ server, method, params }) => ({ server, method, params }),
    then,
    now,
    ({ method }) => method.endsWith('/list'),
  );

  return {
    header,
    input: ofType('input')[0]?.content,
    servers: [...servers.values()].map(({ server }) => server),
    divergence: () => diverged,
    left: () => models.left() + asked.left() + requests.left(),
    model(of) {
      const played = models.of(of);
      return {
        id: played.id,
        async respond(request) {
          if (diverged) throw diverged;
          const taken = played.take(request);
          if ('problem' in taken) throw diverge(`Request ${taken.nth} ${played.to}`, taken.problem);
          const { reply, error } = taken.entry;
          if (reply) return structuredClone(reply);
          const { code, message } = error ?? { code: 'model_failed', message: 'The recorded model gave no reply.' };
          throw code === 'internal' ? new Error(message) : new BridleError(code, message);
        },
      };
    },
    connection(key) {
      const recorded = servers.get(key);
      return {
        server: recorded?.server ?? { key, scope: 'code', fingerprint: 'cassette', trustAnnotations: false },
        era: (recorded?.era ?? null) as unknown as ConnectionEra | null,
        about: recorded?.about ?? null,
        limits: recorded?.limits ?? {},
        async request(method, params, ctx) {
          const taken = requests.take({ server: key, method, params });
          if ('problem' in taken) {
            const { message } = diverge(`${method} to the server ${printable(JSON.stringify(key))}`, taken.problem);
            throw new McpError('cassette_diverged', message, { executed: 'not_executed' });
          }
          if (isGivenUp(taken.entry)) return givenUp(ctx.signal);
          const { result, error } = taken.entry;
          if (result !== undefined) return rawJson(result);
          throw failure(error);
        },
        onNotification: () => () => {},
        status: () => ({ state: 'ready', reasons: [] }),
        close: async () => {},
      };
    },
    asker: () => ({
      async ask(question): Promise<AskReply> {
        const taken = asked.take({ tool: question.tool.ref.name, args: question.args });
        if ('entry' in taken) {
          if (isGivenUp(taken.entry)) return givenUp(question.signal);
          const { reply, error } = taken.entry;
          if (error !== undefined) throw new Error(error.message);
          return reply as unknown as AskReply;
        }
        const { message } = diverge(`A question about ${printable(question.tool.ref.name)}`, taken.problem);
        return { answer: 'deny', by: 'cassette', reason: message };
      },
    }),
  };
}

function isGivenUp(entry: Of<'asked'> | Of<'mcp'>): boolean {
  const isAnswered = entry.type === 'mcp' ? entry.result !== undefined : entry.reply !== undefined;
  return !isAnswered && entry.error === undefined;
}

/** Nobody answers, until whoever waits gives up as they did then. */
async function givenUp(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) {
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
  throw signal.reason;
}

function failure(error: RecordedError | undefined): McpError {
  const { code = 'mcp_failed', message = 'The recorded request failed.', executed = 'unknown', rpc } = error ?? {};
  return new McpError(code, message, {
    executed: executed as Executed,
    ...(rpc && {
      rpc: { code: rpc.code, message: rpc.message, ...(rpc.data !== undefined && { data: rawJson(rpc.data) }) },
    }),
  });
}
