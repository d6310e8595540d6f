import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A person's home with one project in it, for commands that are run in this process. */
export interface Home {
  readonly home: string;
  /** The project's folder. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Writes the person's own `bridle.json`. */
  own(settings: unknown): Promise<void>;
  /** Writes the project's `bridle.json`. */
  project(settings: unknown): Promise<void>;
  /** Writes the project's `.mcp.json`. */
  servers(servers: unknown): Promise<void>;
  remove(): Promise<void>;
}

export async function newHome(): Promise<Home> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'bridle-home-')));
  const cwd = join(home, 'project');
  const config = join(home, 'config', 'bridle');
  await mkdir(config, { recursive: true });
  await mkdir(cwd);
  return {
    home,
    cwd,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      XDG_STATE_HOME: join(home, 'state'),
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_DATA_HOME: join(home, 'data'),
    },
    own: (settings) => writeFile(join(config, 'bridle.json'), JSON.stringify(settings)),
    project: (settings) => writeFile(join(cwd, 'bridle.json'), JSON.stringify(settings)),
    servers: (mcpServers) => writeFile(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers })),
    remove: () => rm(home, { recursive: true, force: true }),
  };
}
