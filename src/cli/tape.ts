import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { AgentOptions } from '../agent/index.ts';
import { type CassettePlayer, type CassetteRecorder, playCassette, recordCassette } from '../cassette/index.ts';
import type { Asker, Connection, Json, Model } from '../contracts/index.ts';
import type { Project } from '../host/index.ts';
import { modelIdOf, resolveModel } from '../models/index.ts';
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
    /** Whether agents that are started have the same model, whatever their files say. */
    readonly oneModel: boolean;
  }): Promise<void>;
  model(inner: Model): Model;
  /** The agents that may be started, those with models of their own recorded or played too. */
  started<T extends Pick<AgentOptions, 'subagents'>>(options: T): Promise<T>;
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
    started: (options) =>
      withModels(options, async (model, agent) => {
        if (!recorder) return model;
        return recorder.model(typeof model === 'string' ? await resolveModel(model) : model, { agent });
      }),
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
    // Nothing of a model is looked up that is not asked: its key, say.
    started: (options) =>
      withModels(options, (model, agent) => {
        return player.model({ agent, model: typeof model === 'string' ? modelIdOf(model) : model.id });
      }),
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

/** The same options, with another model for each started agent that has one of its own. */
async function withModels<T extends Pick<AgentOptions, 'subagents'>>(
  options: T,
  made: (model: Model | string, agent: string) => Model | string | Promise<Model | string>,
): Promise<T> {
  if (!options.subagents) return options;
  const subagents = await Promise.all(
    options.subagents.map(async (each) =>
      each.model === undefined ? each : { ...each, model: await made(each.model, each.name) },
    ),
  );
  return { ...options, subagents };
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
