import type { Decision, Policy, ToolDefinition } from '../contracts/index.ts';
import { compilePolicy } from '../policy/index.ts';
import { BridleError } from '../tools/index.ts';
import type { AgentOptions } from './agent-options.ts';

/**
 * The policy of an agent: the one given, or one compiled from `permissions` and `mode`. Reading on in a result that
 * this conversation already has needs nobody's word, unless a rule says so.
 *
 * @param reader the tool that reads on
 * @throws BridleError `permissions_invalid`: in code, a rule that can't be read is a mistake to be seen at once
 */
export async function agentPolicy(options: AgentOptions, reader: ToolDefinition): Promise<Policy> {
  return allowingReader(options.policy ?? (await compiled(options)), reader);
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

function allowingReader(policy: Policy, reader: ToolDefinition): Policy {
  const loosen = (tool: ToolDefinition, decision: Decision): Decision => {
    const isOurs = tool === reader && decision.effect === 'ask';
    if (!isOurs || decision.reasons.some((reason) => reason.code === 'ask_rule')) return decision;
    const text = 'It only reads on in a result of this conversation.';
    return { ...decision, effect: 'allow', reasons: [{ room: 'agent', code: 'own_result', text }] };
  };
  return {
    view: (who, tool) => loosen(tool, policy.view(who, tool)),
    decide: async (who, tool, call) => loosen(tool, await policy.decide(who, tool, call)),
  };
}
