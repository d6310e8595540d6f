import type { AgentOptions, Subagent } from '../agent/index.ts';
import { createTrace } from '../dispatch/index.ts';
import type { AgentFile, Project } from '../host/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { agentNamed } from './agent-option.ts';
import type { ParsedCommand } from './command.ts';
import { listOption } from './parse.ts';

/**
 * The agents that the one in use may start: those of `--subagent`, and those that its own file names. Their files are
 * held to what holds for `--agent`: one of the project counts once somebody agreed to it as it is.
 *
 * @param trace where the runs of them are written down; `run` is the name of the run that starts them, or of its folder
 * @throws BridleError `agent_unknown`, `agent_unusable`
 */
export function subagentOptions(
  parsed: ParsedCommand,
  { project, agent }: { readonly project: Pick<Project, 'agents'>; readonly agent: AgentFile | undefined },
  trace: { readonly dir: string; readonly run: string; readonly isModelFlag: boolean },
): Pick<AgentOptions, 'subagents' | 'subagentTrace'> {
  const names = [...new Set([...listOption(parsed, 'subagent'), ...(agent?.agents ?? [])])];
  if (names.length === 0) return {};
  return {
    subagents: names.map((name) => subagentOf(name, agentNamed(name, project), trace.isModelFlag)),
    subagentTrace: ({ agent: started, model, task, conversation }) =>
      createTrace({
        dir: trace.dir,
        run: `${trace.run}.${conversation.slice(0, 8)}`,
        agent: started,
        model,
        task,
      }),
  };
}

function subagentOf(name: string, file: AgentFile | undefined, isModelFlag: boolean): Subagent {
  if (!file) {
    throw new BridleError('agent_unusable', `"${printable(name)}" is the agent without a file, and can't be started.`, {
      hint: 'Name one that a file describes.',
    });
  }
  const { tools } = file;
  const { model, mode, maxTurns } = file;
  return {
    name: file.name,
    description: file.description === '' ? `The agent "${file.name}".` : file.description,
    instructions: file.instructions,
    tools: tools.kind === 'inherit' ? ['*'] : tools.kind === 'named' ? tools.patterns : [],
    except: file.except,
    ...(model !== undefined && !isModelFlag && { model }),
    ...(mode !== undefined && { mode }),
    ...(maxTurns !== undefined && { limits: { turns: maxTurns } }),
  };
}
