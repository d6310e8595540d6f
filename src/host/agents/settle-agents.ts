import type { Reason } from '../../contracts/index.ts';
import { hostReason } from '../reason.ts';
import type { AgentFile } from './agent-file.ts';
import type { AgentsRead } from './load-agents.ts';

/** One agent file, usable or not. */
export interface ListedAgent {
  /** Of a file that is no agent: undefined. */
  readonly agent?: AgentFile;
  readonly source: AgentFile['source'];
  readonly state: 'ready' | 'untrusted' | 'shadowed' | 'refused';
  /** Why it isn't ready. */
  readonly reasons: readonly Reason[];
}

/**
 * Which agents can be used: of those that share a name the first, and of a project's only those that were trusted as
 * they are. What nobody trusted takes no name.
 *
 * @param isTrusted whether a person agreed to exactly this file of the project
 */
export function settleAgents(
  { agents, refused }: AgentsRead,
  isTrusted: (agent: AgentFile) => boolean,
): readonly ListedAgent[] {
  const taken = new Map<string, AgentFile>();
  const listed = agents.map((agent): ListedAgent => {
    const { source } = agent;
    if (agent.scope === 'project' && !isTrusted(agent)) {
      const text = `Nobody has agreed to this file as it is: 'bridle run --agent NAME' in a terminal asks.`;
      return { agent, source, state: 'untrusted', reasons: [hostReason('project_not_trusted', text, source)] };
    }
    const first = taken.get(agent.name);
    if (first) {
      const text = `${first.source.file} has an agent of that name, which goes first.`;
      return { agent, source, state: 'shadowed', reasons: [hostReason('agent_shadowed', text, source)] };
    }
    taken.set(agent.name, agent);
    return { agent, source, state: 'ready', reasons: [] };
  });
  const no = refused.map(({ source, reason }): ListedAgent => ({ source, state: 'refused', reasons: [reason] }));
  return [...listed, ...no];
}
