import { readdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import type { Reason } from '../../contracts/index.ts';
import { BridleError, isBridleError } from '../../tools/index.ts';
import { readTextFile } from '../config-file.ts';
import { homeOf } from '../import/places.ts';
import { hostReason } from '../reason.ts';
import { type AgentFile, type RefusedAgent, readAgentFile } from './agent-file.ts';

/** Largest agent file that is read, in bytes: all of it is shown to whoever is to trust it, and sent with each request. */
const MAX_AGENT_BYTES = 65_536;
/** Most agent files of one place, and the depth of folders in which they are looked for. */
const MAX_AGENTS = 200;
const MAX_DEPTH = 4;

export interface AgentPlaces {
  /** The project's folder: absolute, without symbolic links. */
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute: Bridle's own folder of settings. */
  readonly configDir: string;
}

/** Files of one place that were read as agents, and those that weren't. */
export interface AgentsRead {
  readonly agents: readonly AgentFile[];
  readonly refused: readonly RefusedAgent[];
}

/**
 * Reads the agent files of the project and of the person: `.claude/agents` of the project, then `agents` in the person's
 * configuration folder and `~/.claude/agents`. Never throws; a file that can't be read costs only itself.
 */
export async function readAgents({ root, env, configDir }: AgentPlaces): Promise<AgentsRead> {
  const own = join(homeOf(env), '.claude', 'agents');
  const project = join(root, '.claude', 'agents');
  const agents: AgentFile[] = [];
  const refused: RefusedAgent[] = [];
  const take = async (folder: string, scope: AgentFile['scope'], within?: string) => {
    for (const found of await readFolder(folder, scope, within)) {
      if ('reason' in found) refused.push(found);
      else agents.push(found);
    }
  };
  // In the home folder the project's place is the person's own.
  if ((await realpath(own).catch(() => own)) !== (await realpath(project).catch(() => project)))
    await take(project, 'project', root);
  await take(join(configDir, 'agents'), 'user');
  await take(own, 'user');
  return { agents, refused };
}

/** @param within the folder out of which nothing may lead */
async function readFolder(
  folder: string,
  scope: AgentFile['scope'],
  within: string | undefined,
): Promise<readonly (AgentFile | RefusedAgent)[]> {
  const found: (AgentFile | RefusedAgent)[] = [];
  const { files, left } = await markdownFiles(folder, within);
  if (left !== undefined) found.push(refuse(folder, left));
  for (const file of files) {
    try {
      if (within !== undefined) await refuseOutside(file, within);
      const text = await readTextFile(file, MAX_AGENT_BYTES);
      if (text !== undefined) found.push(await readAgentFile(file, text, scope));
    } catch (error) {
      const what = isBridleError(error) ? error : { code: 'config_unreadable', message: `${file} can't be read.` };
      found.push(refuse(file, hostReason(what.code, what.message, { file })));
    }
  }
  return found;
}

function refuse(file: string, reason: Reason): RefusedAgent {
  return { source: { file }, reason };
}

/** Sorted, so that the same files come in the same order everywhere. */
async function markdownFiles(
  folder: string,
  within: string | undefined,
  depth = MAX_DEPTH,
): Promise<{ readonly files: readonly string[]; readonly left?: Reason }> {
  const files: string[] = [];
  let left: Reason | undefined;
  try {
    if (within !== undefined) await refuseOutside(folder, within);
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth > 1) {
        const inside = await markdownFiles(path, within, depth - 1);
        files.push(...inside.files);
        left ??= inside.left;
      } else if (/\.md$/i.test(entry.name) && !entry.isDirectory()) files.push(path);
      if (files.length <= MAX_AGENTS) continue;
      const text = `There are more than ${MAX_AGENTS} agent files in ${folder}; the rest is not read.`;
      return { files: files.slice(0, MAX_AGENTS), left: hostReason('agents_too_many', text, { file: folder }) };
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (isBridleError(error)) left = hostReason(error.code, error.message, { file: folder });
    else if (code !== 'ENOENT' && code !== 'ENOTDIR')
      left = hostReason('config_unreadable', `${folder} can't be read (${code}).`, { file: folder });
  }
  return { files, ...(left && { left }) };
}

/** @throws BridleError `agent_outside`; what isn't there is inside */
async function refuseOutside(path: string, within: string): Promise<void> {
  const real = await realpath(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return path;
    throw error;
  });
  const way = relative(within, real);
  if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return;
  throw new BridleError('agent_outside', `${path} is a symbolic link to ${real}, outside of this project.`, {
    hint: 'Put the file itself there.',
  });
}
