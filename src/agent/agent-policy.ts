import type { Asker, Decision, Policy, Reason, ToolDefinition } from '../contracts/index.ts';
import { refuseAsker } from '../dispatch/index.ts';
import { compilePolicy } from '../policy/index.ts';
import { BridleError, isSearchTool } from '../tools/index.ts';
import type { AgentOptions } from './agent-options.ts';
import { isStartTool } from './subagents/start-tool.ts';

/**
 * The policy of an agent: the one given, or one compiled from `permissions` and `mode`. Reading on in a result that
 * this conversation already has, searching for the agent's own tools, and starting an agent that this one was given, need
 * nobody's word, unless a rule says so.
 *
 * @param reader the tool that reads on
 * @throws BridleError `permissions_invalid`: in code, a rule that can't be read is a mistake to be seen at once
 */
export async function agentPolicy(options: AgentOptions, reader: ToolDefinition): Promise<Policy> {
  return allowingOwn(options.policy ?? (await compiled(options)), reader);
}

async function compiled({ permissions = {}, mode }: AgentOptions): Promise<Policy> {
  const layer = { scope: 'session', file: 'createAgent', permissions, trusted: true } as const;
  const { policy, problems, ready } = compilePolicy([layer], { ...(mode !== undefined && { mode }) });
  const errors = [...problems, ...(await ready())].filter((problem) => problem.code !== 'mode_without_meaning');
  if (errors.length === 0) return policy;
  throw new BridleError('permissions_invalid', errors.map((problem) => problem.text).join(' '), {
    hint: "Rules are tool names, e.g. permissions: { allow: ['get_order'], deny: ['mcp__files__delete'] }.",
  });
}

function allowingOwn(policy: Policy, reader: ToolDefinition): Policy {
  const whyOf = (tool: ToolDefinition): Reason | undefined => {
    if (tool === reader) {
      return { room: 'agent', code: 'own_result', text: 'It only reads on in a result of this conversation.' };
    }
    if (isSearchTool(tool)) {
      return { room: 'agent', code: 'own_search', text: 'It only finds tools that may be seen here anyway.' };
    }
    if (!isStartTool(tool)) return undefined;
    const text = "It starts an agent that this one was given; each of that agent's own calls is decided on.";
    return { room: 'agent', code: 'own_agent', text };
  };
  const loosen = (tool: ToolDefinition, decision: Decision): Decision => {
    const why = decision.effect === 'ask' ? whyOf(tool) : undefined;
    if (!why || decision.reasons.some((reason) => reason.code === 'ask_rule')) return decision;
    return { ...decision, effect: 'allow', reasons: [why] };
  };
  return {
    view: (who, tool) => loosen(tool, policy.view(who, tool)),
    decide: async (who, tool, call) => loosen(tool, await policy.decide(who, tool, call)),
  };
}

const HOW_TO_ALLOW =
  "pass permissions: { allow: ['{rule}'] } to createAgent, or give it an asker that can put the question to a person";

/** Who is asked: without anybody, whoever reads the refusal is told how to allow it. */
export function askerOf({ asker }: Pick<AgentOptions, 'asker'>): Asker {
  return asker ?? refuseAsker(HOW_TO_ALLOW);
}
