import { type FileHandle, open } from 'node:fs/promises';
import type { Asker, AskReply, Connection, Json, JsonObject, Model } from '../contracts/index.ts';
import { McpError } from '../mcp/client/index.ts';
import { BridleError, isBridleError } from '../tools/index.ts';
import type { CassetteEntry, CassetteHeader, RecordedError } from './entries.ts';
import { scrubber } from './scrub.ts';

export interface RecordOptions extends Omit<CassetteHeader, 'v' | 'type' | 'at' | 'paths'> {
  /** Folders whose paths may be others where it is played back, by name, as in `{project: '/home/me/shop'}`. */
  readonly paths?: Readonly<Record<string, string>>;
  /** Values that are secret, beside what is named or shaped like one. Those shorter than 6 characters are not looked for. */
  readonly secrets?: readonly string[];
}

/** Records what a run exchanges with its model, with servers and with whoever is asked. */
export interface CassetteRecorder {
  readonly path: string;
  /**
   * The same model, recorded.
   *
   * @param of the agent that is started with it; default: the run's own, and those that have its model
   */
  model(inner: Model, of?: { readonly agent: string }): Model;
  /** The same connection, recorded. */
  connection<T extends Connection>(inner: T): T;
  /** The same asker, recorded. */
  asker(inner: Asker): Asker;
  /** What the run is given to begin with. */
  input(content: Json): void;
  /** Exchanges that could not be written. */
  lost(): number;
  /** Waits until everything is on disk. Never rejects. */
  close(): Promise<void>;
}

/**
 * Begins a cassette: a file of JSON Lines that only its owner can read, for `playCassette`. Secrets are taken out before
 * anything is written. What was aborted before it had an answer is not recorded.
 *
 * @param file is made anew
 * @throws BridleError `cassette_not_writable`
 */
export async function recordCassette(file: string, options: RecordOptions): Promise<CassetteRecorder> {
  const { paths = {}, secrets = [], ...about } = options;
  const handle = await openNew(file);
  const scrub = scrubber(secrets);
  const known = new Set<string>();
  let last = 0;
  let lost = 0;
  let queue: Promise<unknown> = Promise.resolve();
  const write = (line: object): void => {
    try {
      const text = `${JSON.stringify(scrub(line as JsonObject))}\n`;
      queue = queue
        .then(() => handle.appendFile(text))
        .catch(() => {
          lost += 1;
        });
    } catch {
      // Nested too deeply to be taken apart, say: what can't be scrubbed isn't written.
      lost += 1;
    }
  };
  type Body = CassetteEntry extends infer E ? (E extends CassetteEntry ? Omit<E, 'v' | 'n'> : never) : never;
  const add = (n: number, entry: Body) => write({ v: 1, n, ...entry });
  const next = () => {
    last += 1;
    return last;
  };
  /** What a server said of itself goes before its first exchange. */
  const tellServer = (connection: Connection): void => {
    if (known.has(connection.server.key)) return;
    known.add(connection.server.key);
    const { about = null, limits = null } = connection as unknown as { readonly about?: Json; readonly limits?: Json };
    add(next(), { type: 'server', server: connection.server, about, limits, era: connection.era as unknown as Json });
  };
  write({ v: 1, type: 'cassette', at: Date.now(), ...about, paths } satisfies CassetteHeader);

  return {
    path: file,
    input: (content) => add(next(), { type: 'input', content }),
    model: (inner, of) => ({
      id: inner.id,
      async respond(request, ctx) {
        const n = next();
        const entry = { type: 'messages', ...(of && { agent: of.agent, model: inner.id }), request } as const;
        try {
          const reply = await inner.respond(request, ctx);
          const { message, stopReason, usage } = reply;
          add(n, { ...entry, reply: { message, stopReason, usage } });
          return reply;
        } catch (error) {
          if (!ctx.signal.aborted) add(n, { ...entry, error: errorOf(error) });
          throw error;
        }
      },
    }),
    connection: (inner) => {
      const request: Connection['request'] = async (method, params, ctx) => {
        const n = next();
        const entry = { type: 'mcp', server: inner.server.key, method, params } as const;
        try {
          const result = await inner.request(method, params, ctx);
          tellServer(inner);
          add(n, { ...entry, result: result.text });
          return result;
        } catch (error) {
          tellServer(inner);
          add(n, ctx.signal.aborted ? entry : { ...entry, error: errorOf(error) });
          throw error;
        }
      };
      return new Proxy(inner, {
        get(target, name) {
          if (name === 'request') return request;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
    asker: (inner) => ({
      async ask(question) {
        const n = next();
        const entry = { type: 'asked', tool: question.tool.ref.name, args: question.args } as const;
        try {
          const reply = await inner.ask(question);
          add(n, { ...entry, reply: replyOf(reply) });
          return reply;
        } catch (error) {
          add(n, question.signal.aborted ? entry : { ...entry, error: errorOf(error) });
          throw error;
        }
      },
    }),
    lost: () => lost,
    async close() {
      await queue;
      await handle.close().catch(() => {});
    },
  };
}

async function openNew(file: string): Promise<FileHandle> {
  try {
    const handle = await open(file, 'w', 0o600);
    await handle.chmod(0o600);
    return handle;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BridleError('cassette_not_writable', `The cassette ${file} can't be written: ${why}.`, {
      hint: 'Give a file in a folder that you may write to.',
      cause,
    });
  }
}

/** The permission behind a yes is good for the one call it was given for. */
function replyOf(reply: AskReply): JsonObject {
  const { grant: _, ...rest } = reply as AskReply & { readonly grant?: unknown };
  return rest as JsonObject;
}

function errorOf(error: unknown): RecordedError {
  const message = error instanceof Error ? error.message : String(error);
  if (!isBridleError(error)) return { code: 'internal', message };
  if (!(error instanceof McpError)) return { code: error.code, message };
  const { rpc } = error;
  return {
    code: error.code,
    message,
    executed: error.executed,
    ...(rpc && { rpc: { code: rpc.code, message: rpc.message, ...(rpc.data && { data: rpc.data.text }) } }),
  };
}
