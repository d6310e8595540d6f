import type { Policy } from '../contracts/index.ts';
import { type AgentFile, MAIN_AGENT, type Project } from '../host/index.ts';
import { restrict } from '../policy/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { nearest } from './nearest.ts';

/** Reading on in a result that the agent already has is no tool to be named. */
const ALWAYS = ['read_result'];

/**
 * The agent that `--agent` names.
 *
 * @returns undefined for none, and for the main one
 * @throws BridleError `agent_unknown`, `agent_unusable`
 */
export function agentNamed(name: string | undefined, { agents }: Pick<Project, 'agents'>): AgentFile | undefined {
  if (name === undefined) return undefined;
  const found = agents.filter(({ agent }) => agent?.name === name);
  const ready = found.find(({ state }) => state === 'ready');
  if (ready?.agent) return ready.agent;
  const [first] = found;
  if (first) {
    throw new BridleError('agent_unusable', `The agent "${printable(name)}" can't be used.`, {
      hint: first.reasons.map(({ text }) => text).join(' '),
    });
  }
  if (name === MAIN_AGENT) {
    // Whoever wrote such a file means an agent that has less.
    const [reason] = agents.flatMap(({ reasons }) => reasons.filter(({ code }) => code === 'agent_name_taken'));
    if (!reason) return undefined;
    throw new BridleError('agent_unusable', `An agent file is named "${MAIN_AGENT}", and can't be used.`, {
      hint: printable(`${reason.source?.file ?? ''}: ${reason.text}`),
    });
  }
  const names = agents.flatMap(({ agent, state }) => (agent && state === 'ready' ? [agent.name] : []));
  const near = nearest(name, names);
  throw new BridleError(
    'agent_unknown',
    `There is no agent "${printable(name)}".${near === undefined ? '' : ` Did you mean "${printable(near)}"?`}`,
    { hint: "'bridle agents list' shows those that there are, and why a file is none." },
  );
}

/** The policy as it holds for an agent: its file takes tools away, and never gives any. */
export function policyFor(agent: AgentFile | undefined, policy: Policy): Policy {
  if (!agent) return policy;
  if (agent.tools.kind === 'inherit') return agent.except.length === 0 ? policy : restrict(policy, ['*'], agent.except);
  const named = agent.tools.kind === 'named' ? agent.tools.patterns : [];
  const starts = agent.agents.map((name) => `start_${name}`);
  return restrict(policy, [...named, ...starts, ...ALWAYS], agent.except);
}

/**
 * The mode in force with an agent: its own only takes rights away, so one that the person chose to the same end stays.
 *
 * @param chosen by the person; undefined: none
 */
export function modeFor(agent: AgentFile | undefined, chosen: string | undefined): string | undefined {
  if (agent?.mode === undefined || chosen === 'plan') return chosen;
  return chosen === 'dontAsk' && agent.mode === 'dontAsk' ? chosen : agent.mode;
}
