import { basename, dirname, join } from 'node:path';
import { configDir } from '../store/index.ts';
import { sha256 } from '../tools/index.ts';

/**
 * Where a server is configured, in order of precedence: the whole entry of the first scope that has the name counts,
 * and nothing is merged.
 */
export type ServerScope = 'managed' | 'local' | 'project' | 'user' | 'plugin';

/** The scopes that a person writes to. */
export const OWN_SCOPES = ['local', 'project', 'user'] as const;
export type OwnScope = (typeof OWN_SCOPES)[number];

/** The files of servers, by scope. Absolute paths; none has to exist. */
export type ServerPlaces = Readonly<Record<OwnScope | 'managed', string>>;

export interface PlacesOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute; the XDG place otherwise. */
  readonly configDir?: string;
  /** Absolute; the machine's place otherwise. */
  readonly managedFile?: string;
}

/**
 * `local` is one person's servers for one project, so it lies with that person's settings and not in the project's
 * folder, where it could be committed, or come with a clone.
 *
 * @param root the project's folder: absolute, without symbolic links
 */
export function serverPlaces(root: string, options: PlacesOptions): ServerPlaces {
  const own = options.configDir ?? configDir(options.env);
  return {
    managed: options.managedFile ?? MANAGED_FILE,
    local: join(own, 'local', localName(root)),
    project: join(root, '.mcp.json'),
    user: join(own, 'mcp.json'),
  };
}

/** Only an administrator can write there. */
const MANAGED_FILE =
  process.platform === 'darwin' ? '/Library/Application Support/bridle/mcp.json' : '/etc/bridle/mcp.json';

/** Files of rules that aren't the project's own, beside those of the servers. Absolute paths; none has to exist. */
export interface RulePlaces {
  readonly managed: string;
  readonly user: string;
  readonly local: string;
}

/** @param root the project's folder: absolute, without symbolic links */
export function rulePlaces(root: string, options: PlacesOptions): RulePlaces {
  const { managed, local } = serverPlaces(root, options);
  return {
    managed: join(dirname(managed), 'bridle.json'),
    user: join(options.configDir ?? configDir(options.env), 'bridle.json'),
    local: local.replace(/\.json$/, '.bridle.json'),
  };
}

/** The folder's name is for people who look; the hash of its whole path makes it one project's. */
function localName(root: string): string {
  const name = basename(root)
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 40);
  return `${name}-${sha256(root).slice(0, 16)}.json`;
}
