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
import { BridleError, canonicalJson, printable, rawJson, sha256 } from '../tools/index.ts';
import { differences, differenceText } from './difference.ts';
import { type CassetteEntry, type CassetteHeader, type RecordedError, readCassette } from './entries.ts';
import { type Normalise, normaliser } from './normalise.ts';

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
  /** The recorded model; its `respond` throws `cassette_diverged`. */
  model(): Model;
  /** A recorded server; its `request` rejects with `cassette_diverged`, and the model's next one says so too. */
  connection(server: string): PlayedConnection;
  /** Answers as whoever was asked did. */
  asker(): Asker;
  /** The first thing that was not as recorded. */
  divergence(): BridleError | undefined;
  /** How many recorded exchanges nobody asked for, lists of what servers have left out. */
  left(): number;
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
  const messages = matcher(ofType('messages'), ({ request }) => request, then, now);
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
    left: () => messages.left() + asked.left() + requests.left(),
    model: () => ({
      id: header.model,
      async respond(request) {
        if (diverged) throw diverged;
        const taken = messages.take(request);
        if ('problem' in taken) throw diverge(`Request ${taken.nth} to the model`, taken.problem);
        const { reply, error } = taken.entry;
        if (reply) return structuredClone(reply);
        const { code, message } = error ?? { code: 'model_failed', message: 'The recorded model gave no reply.' };
        throw code === 'internal' ? new Error(message) : new BridleError(code, message);
      },
    }),
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

type Taken<T> = { readonly entry: T } | { readonly problem: string; readonly nth: number };

/**
 * Finds recorded exchanges by what was sent: those that run side by side come in any order. Each is taken once.
 *
 * @param again whether one may be taken again once all like it are gone
 */
function matcher<T extends CassetteEntry>(
  entries: readonly T[],
  sentOf: (entry: T) => Json,
  then: Normalise,
  now: Normalise,
  again: (entry: T) => boolean = () => false,
): { take(sent: Json): Taken<T>; left(): number } {
  const recorded = entries.map((entry) => ({ entry, sent: then(sentOf(entry)), isTaken: false }));
  const byDigest = new Map<string, typeof recorded>();
  for (const each of recorded) {
    const digest = sha256(canonicalJson(each.sent));
    byDigest.set(digest, [...(byDigest.get(digest) ?? []), each]);
  }
  let taken = 0;
  return {
    left: () => recorded.filter(({ isTaken, entry }) => !isTaken && !again(entry)).length,
    take(sent) {
      const given = now(JSON.parse(JSON.stringify(sent)) as Json);
      const alike = byDigest.get(sha256(canonicalJson(given))) ?? [];
      const found = alike.find(({ isTaken }) => !isTaken) ?? alike.filter(({ entry }) => again(entry)).at(-1);
      taken += 1;
      if (found) {
        found.isTaken = true;
        return { entry: found.entry };
      }
      // What comes nearest is shown, of what hasn't been asked for; of equals the first.
      const rest = recorded.filter(({ isTaken }) => !isTaken).map((each) => differences(each.sent, given));
      if (rest.length === 0) return { problem: '  nothing more was recorded', nth: taken };
      const nearest = rest.reduce((best, each) => (each.length < best.length ? each : best));
      return { problem: differenceText(nearest), nth: taken };
    },
  };
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
