import type { Json, Reason, ToolDefinition } from '../contracts/index.ts';
import type { Project } from '../host/index.ts';
import { applyView } from '../policy/index.ts';
import { isJsonObject, wireName } from '../tools/index.ts';

/**
 * What a name comes to where no server was asked: a view of the project over a tool that has just the arguments the view
 * and the call speak of, or the tool as it is.
 *
 * @returns the tool, or why the view of that name can't be used
 */
export function viewedTool(
  tool: ToolDefinition,
  args: Json,
  { views, root }: Pick<Project, 'views' | 'root'>,
): { readonly tool: ToolDefinition } | { readonly problem: Reason } {
  const { server } = tool.ref;
  const view = views.find((one) => wireName(one.server, one.name) === tool.ref.name);
  if (!view) return { tool };
  const renamed = new Set([...view.arguments.values()].map((limit) => limit.as));
  const given = isJsonObject(args) ? Object.keys(args).filter((name) => !renamed.has(name)) : [];
  const properties = Object.fromEntries([...view.arguments.keys(), ...given].map((name) => [name, {}]));
  const behind: ToolDefinition = {
    ...tool,
    ref: { ...tool.ref, tool: view.tool, name: wireName(server?.key ?? null, view.tool) },
    inputSchema: { type: 'object', properties },
  };
  return applyView(behind, view, { root });
}
