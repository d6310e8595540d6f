import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { makeFolder } from '../tools/index.ts';

/** The environment variables that name the places; `process.env` unless a caller passes its own. */
type Environment = Readonly<Record<string, string | undefined>>;

const FOLDER = 'bridle';

/**
 * The XDG Base Directory Specification (0.8): an unset, empty or relative value counts as not given.
 * macOS follows it too, so that one page of documentation is true everywhere.
 */
function place(variable: string, fallback: readonly string[], env: Environment): string {
  const given = env[variable];
  if (given !== undefined && isAbsolute(given)) return join(given, FOLDER);
  const home = env.HOME !== undefined && isAbsolute(env.HOME) ? env.HOME : homedir();
  return join(home, ...fallback, FOLDER);
}

/**
 * Where a person's settings for Bridle are read from.
 *
 * @param env `process.env` unless given
 * @returns `$XDG_CONFIG_HOME/bridle`, else `~/.config/bridle`; not created
 */
export function configDir(env: Environment = process.env): string {
  return place('XDG_CONFIG_HOME', ['.config'], env);
}

/**
 * Where traces, the trust store and what else can be lost without losing work are kept.
 *
 * @param env `process.env` unless given
 * @returns `$XDG_STATE_HOME/bridle`, else `~/.local/state/bridle`; not created
 */
export function stateDir(env: Environment = process.env): string {
  return place('XDG_STATE_HOME', ['.local', 'state'], env);
}

/**
 * Where databases are kept.
 *
 * @param env `process.env` unless given
 * @returns `$XDG_DATA_HOME/bridle`, else `~/.local/share/bridle`; not created
 */
export function dataDir(env: Environment = process.env): string {
  return place('XDG_DATA_HOME', ['.local', 'share'], env);
}

/**
 * Makes a folder, and the missing ones above it, that only its owner can open (0700). An existing folder is left as it
 * is. To be called before the first write to one of the places, never on a read.
 *
 * @returns the folder, so that a path can be built in one go
 */
export async function makePrivateDir(dir: string): Promise<string> {
  await makeFolder(dir, 0o700);
  return dir;
}
