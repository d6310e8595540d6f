import type { Decision, Policy, ToolDefinition } from '../../contracts/index.ts';
import { restrict } from '../../policy/index.ts';
import { isStartTool } from './start-tool.ts';
import type { Subagent } from './subagent.ts';

/** Reading on in a result that the agent already has is no tool to be named. */
const ALWAYS = ['read_result'];

/**
 * What an agent that was started may do: what the one that started it may, of that the tools that it was given, and never
 * start another one. Its mode only takes away.
 *
 * @param policy of the agent that starts it
 */
export function subagentPolicy(
  { tools = [], except = [], mode }: Pick<Subagent, 'tools' | 'except' | 'mode'>,
  policy: Policy,
): Policy {
  const inner = restrict(policy, [...tools, ...ALWAYS], except);
  const stopped = (tool: ToolDefinition, decision: Decision): Decision => {
    if (isStartTool(tool)) return denied(decision, 'started_agent', 'An agent that was started starts no other.');
    if (mode === 'plan' && tool.effect !== 'read') {
      return denied(
        decision,
        'mode_plan',
        'This agent only uses tools that are known to read; this one may not be one.',
      );
    }
    return decision;
  };
  return {
    view: (who, tool) => stopped(tool, inner.view(who, tool)),
    async decide(who, tool, call) {
      const decision = stopped(tool, await inner.decide(who, tool, call));
      if (mode !== 'dontAsk' || decision.effect !== 'ask') return decision;
      return denied(decision, 'mode_dont_ask', 'This agent asks nobody, and somebody would have to be asked.');
    },
  };
}

function denied(decision: Decision, code: string, text: string): Decision {
  if (decision.effect === 'deny') return decision;
  const { input: _changed, needs: _needs, ...rest } = decision;
  return { ...rest, effect: 'deny', reasons: [...decision.reasons, { room: 'agent', code, text }] };
}
