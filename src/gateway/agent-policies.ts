import type { Decision, Identity, Policy, Reason, ToolDefinition } from '../contracts/index.ts';
import {
  type CompiledPolicy,
  compilePolicy,
  type PolicyLayer,
  type RuleEntry,
  restrict,
  restrictionUnused,
} from '../policy/index.ts';
import type { GatewayAgent, GatewayConfig } from './gateway-config.ts';

/** One policy for all agents: each is decided on by its own rules, on top of those that hold for everybody. */
export interface AgentPolicies {
  readonly policy: Policy;
  /** What is wrong with the rules, of any agent. */
  ready(): Promise<readonly Reason[]>;
  /** Rules of agents that name none of these tools: a slip of the pen, or a server that changed. */
  unused(tools: readonly ToolDefinition[]): readonly Reason[];
}

/**
 * Compiles what each agent may see and call. A tool that no `allow` and no `ask` of its own names doesn't exist for an
 * agent. Denies and asks of the layers below add up with its own; what they allow, it still has to be given. No mode is
 * ever in force: one that a person chose for themselves gives no agent anything.
 *
 * @param layers rules that hold for every agent
 * @param root what relative paths in conditions are relative to
 */
export function agentPolicies(
  { agents, file }: Pick<GatewayConfig, 'agents' | 'file'>,
  { layers, root }: { readonly layers: readonly PolicyLayer[]; readonly root: string },
): AgentPolicies {
  const compiled = new Map<string, CompiledPolicy & { readonly narrowed: Policy }>();
  for (const [name, agent] of agents) {
    const own: PolicyLayer = {
      scope: 'session',
      file: `${file}, agents.${name}`,
      permissions: agent.permissions,
      trusted: true,
    };
    const all = compilePolicy([...layers, own], { root });
    compiled.set(name, { ...all, narrowed: agent.seesAll ? all.policy : restrict(all.policy, namedBy(agent)) });
  }
  const of = ({ agent }: Identity): Policy => compiled.get(agent)?.narrowed ?? NOBODY;
  return {
    policy: {
      view: (who, tool) => of(who).view(who, tool),
      decide: (who, tool, call) => of(who).decide(who, tool, call),
    },
    async ready() {
      const problems: Reason[] = [];
      for (const each of compiled.values()) problems.push(...each.problems, ...(await each.ready()));
      // The layers below are the same for each agent.
      return [...new Map(problems.map((each) => [JSON.stringify(each), each])).values()];
    },
    unused: (tools) =>
      [...agents.values()].flatMap((agent) =>
        restrictionUnused('named', namedBy(agent), tools).map((pattern) => ({
          room: 'gateway',
          code: 'gateway_rule_unused',
          text: `"${pattern}" of agent ${agent.name} names no tool that is there.`,
          source: { file },
        })),
      ),
  };
}

/** What an agent's rules name. A star alone is no rule, here as everywhere: a wildcard never crosses servers. */
export function namedBy({ permissions: { allow = [], ask = [] } }: GatewayAgent): readonly string[] {
  const patterns = [...allow, ...ask].map((rule: RuleEntry) => (typeof rule === 'string' ? rule : rule.tool));
  return patterns.filter((pattern) => pattern.trim() !== '*');
}

const NOT_THERE: Decision = {
  effect: 'deny',
  reasons: [{ room: 'gateway', code: 'gateway_agent_unknown', text: 'The gateway knows no such agent.' }],
  policyVersion: 'gateway',
};
const NOBODY: Policy = { view: () => NOT_THERE, decide: () => NOT_THERE };
