import type { Source, ToolDefinition } from '../contracts/index.ts';
import { type createResultStore, resultReader } from '../dispatch/index.ts';
import { toApiTool } from '../tools/index.ts';
import type { LoopTool } from './state.ts';

/** A definition's entry is made once: the same text in every request keeps the model's cache. */
export function cachedLoopTool(): (tool: ToolDefinition) => LoopTool {
  const made = new WeakMap<ToolDefinition, LoopTool>();
  return (tool) => {
    const known = made.get(tool);
    if (known !== undefined) return known;
    const { sideBySide, toolset, deferLoading } = tool.hints ?? {};
    const fresh: LoopTool = {
      name: tool.ref.name,
      entry: toolset?.entry ?? toApiTool(tool),
      effect: tool.effect,
      ...(sideBySide !== undefined && { sideBySide }),
      ...(deferLoading === true && toolset === undefined && { deferred: true }),
      ...(toolset !== undefined && {
        toolset: { name: toolset.name, member: toolset.member, members: [...toolset.members] },
      }),
    };
    made.set(tool, fresh);
    return fresh;
  };
}

/** The tool that reads on in results that were cut. */
export async function readerTool(results: ReturnType<typeof createResultStore>) {
  const source: Source = resultReader(results);
  const { tools } = await source.list(new AbortController().signal);
  const [tool] = tools;
  if (tool === undefined) throw new Error('The result reader lists no tool.');
  return { tool, source };
}
