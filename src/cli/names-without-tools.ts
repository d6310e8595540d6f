import type { CatalogHandle } from '../catalog/index.ts';
import type { Identity, Policy, Reason, ToolDefinition } from '../contracts/index.ts';
import { samplingTool } from '../host/index.ts';
import { restrictionUnused } from '../policy/index.ts';
import type { Workspace } from './workspace.ts';

/** A policy that remembers every tool it is asked about, those that it hides included. */
export function noticing(policy: Policy): { readonly policy: Policy; readonly seen: ReadonlySet<ToolDefinition> } {
  const seen = new Set<ToolDefinition>();
  return {
    seen,
    policy: {
      view(who, tool) {
        seen.add(tool);
        return policy.view(who, tool);
      },
      decide: (who, tool, call) => policy.decide(who, tool, call),
    },
  };
}

/**
 * Rules, and names in the file of the agent, that name no tool: a slip of the pen, or a server that changed. Nothing is
 * said as long as a server isn't there, since it may have the tool.
 *
 * @param catalog lists with the policy that noticed `seen`
 * @param scope `here`: only rules written for this folder; the person's others may be meant for servers of other folders
 */
export function namesWithoutTools(
  { compiled, agent, project, servers }: Pick<Workspace, 'compiled' | 'agent' | 'project' | 'servers'>,
  catalog: Pick<CatalogHandle, 'list' | 'problems' | 'readiness'>,
  who: Identity,
  seen: ReadonlySet<ToolDefinition>,
  scope: 'here' | 'all' = 'here',
): readonly Reason[] {
  catalog.list(who);
  const isWhole = catalog.readiness().every(({ state }) => state === 'ready');
  if (!isWhole || catalog.problems().length > 0 || project.notStarted.length > 0) return [];
  const lent = servers.filter(({ key }) => project.sampling.has(key));
  const tools = [...seen, ...lent.map(({ connection }) => samplingTool(connection.server))];
  const elsewhere = new Set(
    project.layers.filter(({ scope: of }) => of === 'user' || of === 'managed').map(({ file }) => file),
  );
  const rules = compiled
    .unused(tools)
    .filter(({ source }) => scope === 'all' || source === undefined || !elsewhere.has(source.file));
  return [...rules, ...(agent ? agentNames(agent, tools) : [])];
}

function agentNames(agent: NonNullable<Workspace['agent']>, tools: readonly ToolDefinition[]): readonly Reason[] {
  const named = agent.tools.kind === 'named' ? restrictionUnused('named', agent.tools.patterns, tools) : [];
  const unused = [...named, ...restrictionUnused('except', agent.except, tools)];
  if (unused.length === 0) return [];
  const text = `The agent's file names tools that no server here has: ${unused.join(', ')}. 'bridle tools list' shows the names.`;
  return [{ room: 'cli', code: 'agent_tools_not_here', text, source: agent.source }];
}
