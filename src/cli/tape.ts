import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { type CassettePlayer, type CassetteRecorder, playCassette, recordCassette } from '../cassette/index.ts';
import type { Asker, Connection, Json, Model } from '../contracts/index.ts';
import type { Project } from '../host/index.ts';
import { BridleError, namesSecret } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { stringOption } from './parse.ts';
import type { ServerConnection } from './workspace-server.ts';

/** What `--record` and `--replay` put between a run and the rest of the world; without them nothing. */
export interface Tape {
  /** What is played back, with `--replay`. */
  readonly player: CassettePlayer | undefined;
  /** Whether the run has to wait for all of its servers, so that it begins alike each time. */
  readonly waitsForAll: boolean;
  connection(make: () => ServerConnection): ServerConnection;
  /** Begins the recording, once it is known what is recorded. */
  begin(about: {
    readonly project: Project;
    readonly model: Model;
    readonly agent: string;
    readonly task: string;
    readonly conversation: string;
  }): Promise<void>;
  model(inner: Model): Model;
  asker(inner: Asker): Asker;
  input(content: Json): void;
  /** What is wrong although the run has ended, if anything is. */
  fault(): BridleError | undefined;
  close(): Promise<void>;
}

/** @throws BridleError `usage`, `cassette_not_readable` */
export async function openTape(parsed: ParsedCommand, io: CommandIo): Promise<Tape> {
  const record = stringOption(parsed, 'record');
  const replay = stringOption(parsed, 'replay');
  if (record !== undefined && replay !== undefined) {
    throw new BridleError('usage', 'Give either --record or --replay.');
  }
  if (replay === undefined) return recording(record === undefined ? undefined : resolve(io.cwd, record), io);
  if (stringOption(parsed, 'model') !== undefined) {
    throw new BridleError('usage', '--replay has the model that was recorded.', { hint: 'Leave --model out.' });
  }
  let project = io.cwd;
  const paths = () => ({ project, home: homeOf(io) });
  return playing(await playCassette(resolve(io.cwd, replay), { paths }), (root) => {
    project = root;
  });
}

function recording(file: string | undefined, io: CommandIo): Tape {
  let recorder: CassetteRecorder | undefined;
  return {
    player: undefined,
    waitsForAll: file !== undefined,
    connection(make) {
      const inner = make();
      if (file === undefined) return inner;
      let taped: ServerConnection | undefined;
      const request: Connection['request'] = (...args) => {
        taped ??= recorder?.connection(inner);
        return (taped ?? inner).request(...args);
      };
      return new Proxy(inner, {
        get(target, name) {
          if (name === 'request') return request;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
    async begin({ project, model, ...about }) {
      if (file === undefined) return;
      recorder = await recordCassette(file, {
        ...about,
        model: model.id,
        paths: { project: project.root, home: homeOf(io) },
        secrets: secretsOf(project, io),
      });
    },
    model: (inner) => recorder?.model(inner) ?? inner,
    asker: (inner) => recorder?.asker(inner) ?? inner,
    input: (content) => recorder?.input(content),
    fault() {
      const lost = recorder?.lost() ?? 0;
      if (lost === 0) return undefined;
      return new BridleError('cassette_not_writable', `${lost} exchanges could not be written to ${file}.`, {
        hint: 'Free space on its disk, and record it anew.',
      });
    },
    close: async () => recorder?.close(),
  };
}

function playing(player: CassettePlayer, at: (root: string) => void): Tape {
  return {
    player,
    waitsForAll: true,
    connection(make) {
      // Nothing is started before a first request, which this one never gets.
      const { server } = make();
      return playedServer(player, server.key);
    },
    begin: async ({ project }) => at(project.root),
    model: () => player.model(),
    asker: () => player.asker(),
    input: () => {},
    fault() {
      const diverged = player.divergence();
      if (diverged) return diverged;
      const left = player.left();
      if (left === 0) return undefined;
      const what = left === 1 ? 'one exchange' : `${left} exchanges`;
      return new BridleError('cassette_diverged', `The run has ended, and the recording goes on with ${what}.`, {
        hint: 'If that is how it is meant to be now, record the cassette anew.',
      });
    },
    close: async () => {},
  };
}

/** A recorded server in the place of one that is started or reached. */
function playedServer(player: CassettePlayer, key: string): ServerConnection {
  const played = player.connection(key);
  const about = played.about as unknown as ServerConnection['about'];
  const limits = played.limits as unknown as ServerConnection['limits'];
  return {
    ...played,
    about,
    limits,
    counters: { starts: 0, noise: 0, stray: 0 },
    pid: undefined,
    connect: async () => {},
    ready: async () => about ?? { capabilities: {} },
    watch: () => () => {},
  } as unknown as ServerConnection;
}

function homeOf({ env }: CommandIo): string {
  return env.HOME ?? homedir();
}

/** What entries of servers give them to know, and variables that are named like secrets. */
function secretsOf(project: Project, { env }: CommandIo): readonly string[] {
  const ofServers = project.servers.flatMap((server) =>
    server.kind === 'http'
      ? Object.values(server.headers ?? {}).flatMap((value) => [value, ...value.split(/\s+/)])
      : Object.values(server.env ?? {}),
  );
  const own = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && namesSecret(name, 'setting') ? [value] : [],
  );
  return [...ofServers, ...own].filter((value) => !/^(true|false|yes|no|production|development|\/.*)$/i.test(value));
}
