import type { Source, ToolDefinition } from '../contracts/index.ts';
import { type createResultStore, resultReader } from '../dispatch/index.ts';
import { apiToolEntry, type Strictness } from '../tools/index.ts';
import type { LoopTool } from './state.ts';

/** A definition's entry is made once: the same text in every request keeps the model's cache. Default loose. */
export function cachedLoopTool(): (tool: ToolDefinition, strictness?: Strictness) => LoopTool {
  const made = new WeakMap<ToolDefinition, Map<Strictness, LoopTool>>();
  return (tool, strictness = 'loose') => {
    const known = made.get(tool)?.get(strictness);
    if (known !== undefined) return known;
    const { sideBySide, toolset, deferLoading } = tool.hints ?? {};
    const fresh: LoopTool = {
      name: tool.ref.name,
      entry: toolset?.entry ?? apiToolEntry(tool, strictness),
      effect: tool.effect,
      ...(sideBySide !== undefined && { sideBySide }),
      ...(deferLoading === true && toolset === undefined && { deferred: true }),
      ...(toolset !== undefined && {
        toolset: { name: toolset.name, member: toolset.member, members: [...toolset.members] },
      }),
    };
    made.set(tool, (made.get(tool) ?? new Map<Strictness, LoopTool>()).set(strictness, fresh));
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
