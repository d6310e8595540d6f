import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { OwnScope } from '../server-places.ts';

/** A file in which another host keeps servers or settings. */
export interface ForeignPlace {
  readonly file: string;
  /** Where its servers go: what lies in a project's folder stays the project's word, and is asked about. */
  readonly scope: OwnScope;
}

export interface ForeignOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: this one. */
  readonly platform?: NodeJS.Platform;
}

export function homeOf(env: ForeignOptions['env']): string {
  return env.HOME !== undefined && isAbsolute(env.HOME) ? env.HOME : homedir();
}

/**
 * The files of other hosts on this machine that may hold servers, the person's own first.
 *
 * @param root the project's folder
 */
export function foreignPlaces(
  root: string,
  { env, platform = process.platform }: ForeignOptions,
): readonly ForeignPlace[] {
  const home = homeOf(env);
  const settings =
    env.XDG_CONFIG_HOME !== undefined && isAbsolute(env.XDG_CONFIG_HOME) ? env.XDG_CONFIG_HOME : join(home, '.config');
  const desktop =
    platform === 'darwin' ? join(home, 'Library', 'Application Support', 'Claude') : join(settings, 'Claude');
  const user = (...way: string[]) => ({ file: join(home, ...way), scope: 'user' as const });
  const project = (...way: string[]) => ({ file: join(root, ...way), scope: 'project' as const });
  return [
    user('.claude.json'),
    user('.claude', 'settings.json'),
    { file: join(desktop, 'claude_desktop_config.json'), scope: 'user' },
    user('.cursor', 'mcp.json'),
    project('.vscode', 'mcp.json'),
    project('.cursor', 'mcp.json'),
    project('.claude', 'settings.json'),
    project('.claude', 'settings.local.json'),
  ];
}
